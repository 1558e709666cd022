import { byId, element, setAttribute, setText, shape } from './dom.js'
import { formatDuration } from './format.js'
import { bar, height, makePlot, markEmpty, positionSeconds } from './plot.js'

const MIN_MS = 0.1

/** Response time on a logarithmic scale: the median as a line, with bars up to the 99th percentile. */
export class LatencyChart {
  #p50 = shape('path', { class: 'line' })
  #reach = shape('path', { class: 'reach' })
  #scale = element('div', { 'aria-hidden': 'true' })
  #svg = makePlot('latency', this.#scale, this.#reach, this.#p50)
  #traffic
  #decades = ''

  update(traffic) {
    this.#traffic = traffic
    this.tick()
  }

  tick() {
    if (this.#traffic === undefined) return
    const { p50, p99 } = this.#traffic
    const seconds = positionSeconds(this.#traffic.seconds)
    const low = decade(Math.min(1, ...seconds.map((s) => s.p50)), Math.floor)
    const high = Math.max(low + 2, decade(Math.max(0, ...seconds.map((s) => s.p99)), Math.ceil))
    const place = (ms) => height((Math.log10(Math.max(ms, MIN_MS)) - low) / (high - low))
    setAttribute(this.#p50, 'd', line(seconds, place))
    const bars = seconds.map((s) => bar(s.x, place(s.p50), place(s.p99)))
    setAttribute(this.#reach, 'd', bars.join(''))
    this.#drawScale(low, high)
    const isQuiet = p50 === undefined
    markEmpty('latency', this.#traffic.total === 0)
    setText(byId('latency-value'), isQuiet ? '–' : formatDuration(p50))
    setText(byId('latency-note'), isQuiet ? '' : `median, p99 ${formatDuration(p99)}`)
    const spoken = `median ${formatDuration(p50 ?? 0)}, 99th percentile ${formatDuration(p99 ?? 0)}, over two minutes`
    setAttribute(this.#svg, 'aria-label', isQuiet ? 'No requests yet' : spoken)
  }

  #drawScale(low, high) {
    if (this.#decades === `${low} ${high}`) return
    this.#decades = `${low} ${high}`
    const lines = Array.from({ length: high - low }, (_, step) => {
      const text = element('span', { text: unit(low + step + 1) })
      const drawn = element('div', { class: 'scale-line' }, text)
      drawn.style.setProperty('inset-block-end', `${((step + 1) / (high - low)) * 100}%`)
      return drawn
    })
    this.#scale.replaceChildren(...lines)
  }
}

function decade(milliseconds, round) {
  return round(Math.log10(Math.max(MIN_MS, milliseconds)))
}

function unit(power) {
  return power < 3 ? `${10 ** power} ms` : `${10 ** (power - 3)} s`
}

/** Draws a line with gaps where there were no requests. */
function line(seconds, place) {
  return seconds
    .map(({ x, p50 }, at) => {
      const goesOn = at > 0 && seconds[at - 1].x === x - 1
      return goesOn ? `L${x + 0.5} ${place(p50)}` : `M${x + 0.5} ${place(p50)}h0`
    })
    .join('')
}
