import { now } from './clock.js'
import { element, setAttribute, shape } from './dom.js'
import { formatTime, KINDS } from './format.js'

export const STRIP_MS = 300_000
const MAX_MARKS = 150

/** The last minutes of one identity: when it had a credential, when requests waited, and its events. */
export class Strip {
  #svg = shape('svg', { class: 'strip-drawing', role: 'img' })
  node = element(
    'div',
    { class: 'strip' },
    this.#svg,
    element(
      'p',
      { class: 'axis', 'aria-hidden': 'true' },
      element('span', { text: '5 min ago' }),
      element('span', { text: 'now' }),
    ),
  )

  draw(events, credential) {
    const end = now()
    const begin = end - STRIP_MS
    const at = (time) =>
      `${(((Math.min(Math.max(time, begin), end) - begin) / STRIP_MS) * 100).toFixed(2)}%`
    const width = (from, until) =>
      `${Math.max(0.3, ((Math.min(until, end) - Math.max(from, begin)) / STRIP_MS) * 100).toFixed(2)}%`
    const spans = spansOf(events, credential)
      .filter(({ from, until }) => until > begin && from < end)
      .map(({ kind, from, until }) =>
        shape('rect', {
          class: `span span-${kind}`,
          x: at(from),
          width: width(from, until),
          y: 16,
          height: 10,
          rx: 2,
        }),
      )
    const recent = events.filter((event) => event.at > begin).slice(-MAX_MARKS)
    const marks = recent.map((event) => markOf(event, at(event.at)))
    this.#svg.replaceChildren(
      shape('rect', { class: 'strip-track', x: 0, y: 16, width: '100%', height: 10, rx: 2 }),
      ...spans,
      ...marks,
    )
    setAttribute(this.#svg, 'aria-label', `Last five minutes: ${summary(recent)}`)
  }
}

function markOf({ kind, text, at }, x) {
  const title = shape('title', { text: `${formatTime(at)} ${KINDS[kind]?.name ?? kind}: ${text}` })
  const place = { class: `mark mark-${kind}` }
  switch (kind) {
    case 'refused':
    case 'failed':
    case 'warning':
      return shape(
        'svg',
        { x, y: 7, overflow: 'visible' },
        shape('path', { ...place, d: PATHS[kind] }, title),
      )
    case 'waiting':
      return shape('rect', { ...place, x, y: 13, width: 2, height: 16, rx: 1 }, title)
    default:
      return shape('circle', { ...place, cx: x, cy: 21, r: kind === 'signed' ? 3 : 4.5 }, title)
  }
}

const PATHS = {
  refused: 'M0 -6 6 0 0 6 -6 0z',
  failed: 'M-4.5 -4.5 4.5 4.5M4.5 -4.5 -4.5 4.5',
  warning: 'M0 -6 6 5h-12z',
}

/** Converts events to time spans. */
function spansOf(events, { acquiredAt, expiresAt = Number.POSITIVE_INFINITY }) {
  const spans = []
  let open
  const close = (at) => {
    if (open !== undefined) spans.push({ ...open, until: Math.min(open.until, at) })
    open = undefined
  }
  const start = (kind, from, until = Number.POSITIVE_INFINITY) => {
    close(from)
    open = { kind, from, until }
  }
  const serves = (at) => open?.kind === 'good' && open.until > at
  for (const { kind, at, until } of events) {
    if (kind === 'acquired' || kind === 'refreshed') start('good', at, until)
    else if (kind === 'refused') start('waiting', at)
    else if (kind === 'forgotten') close(at)
    else if ((kind === 'waiting' || kind === 'failed') && !serves(at)) start(kind, at)
  }
  // A credential from before the first known event.
  if (open === undefined && acquiredAt !== undefined) start('good', acquiredAt, expiresAt)
  close(Number.POSITIVE_INFINITY)
  return spans
}

function summary(recent) {
  const counts = Object.entries(KINDS)
    .map(([kind, { name }]) => [recent.filter((event) => event.kind === kind).length, name])
    .filter(([number]) => number > 0)
    .map(([number, name]) => `${number} ${name}`)
  return counts.join(', ') || 'no events'
}
