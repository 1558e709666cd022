import { byId, element, setAttribute, setText, shape } from './dom.js'
import { bar, height, makePlot, markEmpty, placeSeconds, SECONDS } from './plot.js'
import { count } from './words.js'

/** Over how many seconds "now" is measured. */
const LATELY = 10

/** Requests per second, those that failed at the foot of each bar. */
export class RateChart {
  #good = shape('path', { class: 'bar' })
  #failed = shape('path', { class: 'bar-failed' })
  #scale = element('div', { class: 'scale-line scale-most', 'aria-hidden': 'true' })
  #most = element('span')
  #svg = makePlot('rate', this.#scale, this.#good, this.#failed)
  #traffic

  constructor() {
    this.#scale.append(this.#most)
  }

  update(traffic) {
    this.#traffic = traffic
    this.tick()
  }

  tick() {
    if (this.#traffic === undefined) return
    const { total, failed, open } = this.#traffic
    const seconds = placeSeconds(this.#traffic.seconds)
    const peak = Math.max(0, ...seconds.map(({ requests }) => requests))
    const most = readable(Math.max(4, peak))
    const draw = (path, from, until) =>
      setAttribute(
        path,
        'd',
        seconds.map((s) => bar(s.x, height(from(s) / most), height(until(s) / most))).join(''),
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
    const lately = seconds.filter(({ x }) => x >= SECONDS - LATELY)
    const rate = lately.reduce((sum, { requests }) => sum + requests, 0) / LATELY
    markEmpty('rate', total === 0)
    setText(this.#most, String(most))
    setText(
      byId('rate-value'),
      rate >= 10 || rate === 0 ? String(Math.round(rate)) : rate.toFixed(1),
    )
    setText(byId('rate-note'), total === 0 ? '' : totals(total, failed, open))
    const spoken = `${rate.toFixed(1)} requests per second; the most in two minutes was ${peak}`
    setAttribute(this.#svg, 'aria-label', total === 0 ? 'No requests yet' : spoken)
  }
}

function totals(total, failed, open) {
  return `${count(total, 'request')}, ${failed === 0 ? 'none' : failed} failed, ${open} open`
}

/** The next number that is easy to read. */
function readable(value) {
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((step) => step * power).find((step) => step >= value)
}
