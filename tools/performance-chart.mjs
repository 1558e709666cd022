// Draws a line chart as SVG, with both axes logarithmic. It has a light and a dark scheme, with a background of its own,
// so that it can be read on any page; every series also has its own mark and dashes.

const WIDTH = 760
const HEIGHT = 380
const LEFT = 72
const RIGHT = 24
const TOP = 76
const BOTTOM = 58
const FONT = 'system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif'

/** Colours of Okabe and Ito, which colour-blind readers can tell apart; lighter on dark. */
const SERIES = [
  { light: '#0060a8', dark: '#5ab0f0', dashes: 'none', mark: 'circle' },
  { light: '#b34700', dark: '#f0934c', dashes: '8 4', mark: 'square' },
  { light: '#007a57', dark: '#3fc79a', dashes: '3 4', mark: 'diamond' },
  { light: '#8c3b78', dark: '#d98bc2', dashes: '12 4 3 4', mark: 'triangle' },
]

/**
 * Draws a chart.
 *
 * @param series By name: points `{ x, median, low, high }`, sorted by `x`.
 * @param {{ title: string, xLabel: string, yLabel: string }} words
 */
export function lineChart(series, { title, xLabel, yLabel }) {
  const points = Object.values(series).flat()
  const xs = [...new Set(points.map(({ x }) => x))].sort((a, b) => a - b)
  const x = logScale([xs[0], xs.at(-1)], [LEFT, WIDTH - RIGHT])
  const yTicks = ticksFor(points.flatMap(({ low, high }) => [low, high]))
  const y = logScale([yTicks[0], yTicks.at(-1)], [HEIGHT - BOTTOM, TOP])
  const names = Object.keys(series)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${escaped(title)}">
<style>${styles()}</style>
<rect class="page" width="${WIDTH}" height="${HEIGHT}" rx="6"/>
<text class="title" x="${LEFT}" y="26">${escaped(title)}</text>
${legend(names)}
${yTicks.map((value) => yTick(value, y(value))).join('\n')}
${xs.map((value) => xTick(value, x(value))).join('\n')}
<text class="label" x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 14}" text-anchor="middle">${escaped(xLabel)}</text>
<text class="label" transform="translate(18 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">${escaped(yLabel)}</text>
${names.map((name, index) => drawSeries(series[name], index, x, y)).join('\n')}
</svg>
`
}

function drawSeries(points, index, x, y) {
  const line = points.map((each) => `${near(x(each.x))},${near(y(each.median))}`).join(' ')
  const whiskers = points
    .filter(({ low, high }) => low !== high)
    .map((each) => `M${near(x(each.x))} ${near(y(each.low))}V${near(y(each.high))}`)
    .join('')
  const marks = points.map((each) => mark(index, x(each.x), y(each.median))).join('')
  const spread = whiskers === '' ? '' : `<path class="spread" d="${whiskers}"/>`
  return `<g class="s${index}">${spread}<polyline points="${line}"/>${marks}</g>`
}

function mark(index, x, y) {
  const shapes = {
    circle: 'm-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z',
    square: 'm-4 -4h8v8h-8z',
    diamond: 'm0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z',
    triangle: 'm0 -5.5l5.5 9h-11z',
  }
  return `<path class="mark" d="M${near(x)} ${near(y)}${shapes[SERIES[index].mark]}"/>`
}

function legend(names) {
  let left = LEFT
  return names
    .map((name, index) => {
      const start = left
      left += 46 + name.length * 7.2
      const sample = `<polyline points="${near(start)},48 ${near(start + 28)},48"/>${mark(index, start + 14, 48)}`
      const words = `<text class="label" x="${near(start + 34)}" y="52">${escaped(name)}</text>`
      return `<g class="s${index}">${sample}</g>${words}`
    })
    .join('\n')
}

function yTick(value, y) {
  const line = `<path class="grid" d="M${LEFT} ${near(y)}H${WIDTH - RIGHT}"/>`
  return `${line}<text class="tick" x="${LEFT - 8}" y="${near(y + 4)}" text-anchor="end">${short(value)}</text>`
}

function xTick(value, x) {
  const line = `<path class="grid" d="M${near(x)} ${TOP}V${HEIGHT - BOTTOM + 4}"/>`
  return `${line}<text class="tick" x="${near(x)}" y="${HEIGHT - BOTTOM + 20}" text-anchor="middle">${short(value)}</text>`
}

/** Values 1, 2 and 5 of every power of ten around the points; for a wide range only the powers. */
function ticksFor(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const isWide = Math.log10(high / low) > 2.5
  const steps = isWide ? [1] : [1, 2, 5]
  const all = []
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high) + 1; power += 1) {
    all.push(...steps.map((step) => Number(`${step}e${power}`)))
  }
  const first = all.findLastIndex((tick) => tick <= low)
  const last = all.findIndex((tick) => tick >= high)
  return all.slice(first, last + 1)
}

function logScale([low, high], [from, to]) {
  const span = Math.log(high / low) || 1
  return (value) => from + (Math.log(value / low) / span) * (to - from)
}

function styles() {
  const colours = (scheme) =>
    SERIES.map(
      (each, index) =>
        `.s${index}{stroke:${each[scheme]}}.s${index} .mark{fill:${each[scheme]};stroke:none}`,
    ).join('')
  const dashes = SERIES.map(
    (each, index) => `.s${index} polyline{stroke-dasharray:${each.dashes}}`,
  ).join('')
  return `text{font-family:${FONT};font-size:13px}.title{font-size:15px;font-weight:600}.tick{font-size:12px}polyline{fill:none;stroke-width:2.2}.spread{stroke-width:1.2;opacity:.7}${dashes}.page{fill:#fff}.title{fill:#1f2328}.label,.tick{fill:#424a53}.grid{stroke:#d8dee4}${colours('light')}@media (prefers-color-scheme:dark){.page{fill:#0d1117}.title{fill:#f0f6fc}.label,.tick{fill:#b7bfc8}.grid{stroke:#2d333b}${colours('dark')}}`
}

function short(value) {
  return value >= 1000 ? `${value / 1000}k` : String(value)
}

function near(value) {
  return Math.round(value * 10) / 10
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
