import { now } from './clock.js'
import { byId, element, setAttribute, shape } from './dom.js'

/** The width of a plot in seconds. */
export const SECONDS = 120
const HEIGHT = 60

/** Creates the SVG of a chart, with a scale beside it. */
export function makePlot(name, scale, ...shapes) {
  const svg = shape(
    'svg',
    { viewBox: `0 0 ${SECONDS} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img' },
    ...shapes,
  )
  const empty = element('p', { class: 'empty plot-empty', text: 'No requests yet' })
  byId(`${name}-plot`).append(svg, scale, empty)
  return svg
}

/** Marks a chart as empty, which hides its scale. */
export function markEmpty(name, isEmpty) {
  setAttribute(byId(name), 'data-empty', isEmpty ? '' : undefined)
}

/** Returns the seconds with their horizontal positions; the plot ends now. */
export function positionSeconds(seconds) {
  // The current second is incomplete and would always look like a drop.
  const last = Math.floor(now() / 1000) - 1
  return seconds
    .map((second) => ({ ...second, x: SECONDS - 1 - (last - second.at / 1000) }))
    .filter(({ x }) => x >= 0 && x < SECONDS)
}

/** Converts a share between 0 and 1 to a vertical position. */
export function height(share) {
  return (HEIGHT * (1 - Math.min(1, Math.max(0, share)))).toFixed(2)
}

/** Draws a bar for one second. */
export function bar(x, from, until) {
  return `M${x + 0.15} ${from}V${until}H${x + 0.85}V${from}z`
}
