import { byId, element, setAttribute, setText, shape } from './dom.js'
import { count } from './format.js'
import { bar, height, makePlot, markEmpty, positionSeconds, SECONDS } from './plot.js'

/** The current rate is the average over this many seconds. */
const RECENT_SECONDS = 10

/** Requests per second, with failed ones at the bottom of each bar. */
export class RateChart {
  #good = shape('path', { class: 'bar' })
  #failed = shape('path', { class: 'bar-failed' })
  #scale = element('div', { class: 'scale-line scale-max', 'aria-hidden': 'true' })
  #max = element('span')
  #svg = makePlot('rate', this.#scale, this.#good, this.#failed)
  #traffic

  constructor() {
    this.#scale.append(this.#max)
  }

  update(traffic) {
    this.#traffic = traffic
    this.tick()
  }

  tick() {
    if (this.#traffic === undefined) return
    const { total, failed, open } = this.#traffic
    const seconds = positionSeconds(this.#traffic.seconds)
    const peak = Math.max(0, ...seconds.map(({ requests }) => requests))
    const max = roundUp(Math.max(4, peak))
    const draw = (path, from, until) =>
      setAttribute(
        path,
        'd',
        seconds.map((s) => bar(s.x, height(from(s) / max), height(until(s) / max))).join(''),
      )
    draw(
      this.#good,
      (s) => s.failed,
      (s) => s.requests,
    )
    draw(
      this.#failed,
      () => 0,
      (s) => s.failed,
    )
    const recent = seconds.filter(({ x }) => x >= SECONDS - RECENT_SECONDS)
    const rate = recent.reduce((sum, { requests }) => sum + requests, 0) / RECENT_SECONDS
    markEmpty('rate', total === 0)
    setText(this.#max, String(max))
    setText(
      byId('rate-value'),
      rate >= 10 || rate === 0 ? String(Math.round(rate)) : rate.toFixed(1),
    )
    setText(byId('rate-note'), total === 0 ? '' : totals(total, failed, open))
    const spoken = `${rate.toFixed(1)} requests per second; the maximum in two minutes was ${peak}`
    setAttribute(this.#svg, 'aria-label', total === 0 ? 'No requests yet' : spoken)
  }
}

function totals(total, failed, open) {
  return `${count(total, 'request')}, ${failed === 0 ? 'none' : failed} failed, ${open} open`
}

/** Rounds up to a number that is easy to read. */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((step) => step * power).find((step) => step >= value)
}
