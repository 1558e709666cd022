import { now, prefersReducedMotion } from './clock.js'
import { element, setAttribute, setText, shape } from './dom.js'
import { formatTimeLeft, spellTimeLeft } from './format.js'

const RADIUS = 34
const LENGTH = 2 * Math.PI * RADIUS
/** With a longer lifetime, the ring moves less than a pixel per second and needs no animation. */
const SMOOTH_MS = 300_000

/** A ring that shows the remaining lifetime of a credential. */
export class Ring {
  #arc = shape('circle', {
    class: 'ring-arc',
    cx: 40,
    cy: 40,
    r: RADIUS,
    'stroke-dasharray': LENGTH,
    'stroke-dashoffset': LENGTH,
    transform: 'rotate(-90 40 40)',
  })
  #number = element('span', { class: 'ring-number' })
  #unit = element('span', { class: 'ring-unit' })
  #svg = shape(
    'svg',
    { viewBox: '0 0 80 80', role: 'img', class: 'ring-drawing' },
    shape('circle', { class: 'ring-track', cx: 40, cy: 40, r: RADIUS }),
    this.#arc,
    shape('circle', { class: 'ring-spin', cx: 40, cy: 40, r: 27.5 }),
  )
  node = element(
    'div',
    { class: 'ring' },
    this.#svg,
    element('span', { class: 'ring-text', 'aria-hidden': 'true' }, this.#number, this.#unit),
  )
  #from
  #until
  #motion

  /** Shows a credential by when it was obtained and expires; without an expiry the ring is full. */
  show({ from, until, label }) {
    this.label = label
    if (from !== this.#from || until !== this.#until) {
      this.#from = from
      this.#until = until
      this.#motion?.cancel()
      this.#motion = undefined
      this.#begin()
    }
    this.tick()
  }

  /** Updates the remaining time. */
  tick() {
    const left = this.#until === undefined ? undefined : this.#until - now()
    const [number, unit] = this.#format(left)
    setText(this.#number, String(number))
    setText(this.#unit, unit)
    setAttribute(this.#svg, 'aria-label', this.#spoken(left))
    setAttribute(
      this.node,
      'data-low',
      left !== undefined && this.#share(left) < 0.15 ? '' : undefined,
    )
    if (this.#motion === undefined) setAttribute(this.#arc, 'stroke-dashoffset', this.#offset(left))
  }

  #begin() {
    const left = (this.#until ?? 0) - now()
    if (left <= 0 || left > SMOOTH_MS || prefersReducedMotion()) return
    this.#motion = this.#arc.animate(
      [{ strokeDashoffset: this.#offset(left) }, { strokeDashoffset: LENGTH }],
      { duration: left, fill: 'forwards' },
    )
  }

  #format(left) {
    if (this.#from === undefined) return ['–', '']
    if (left === undefined) return ['∞', '']
    return left <= 0 ? ['0', 's'] : formatTimeLeft(left)
  }

  #spoken(left) {
    if (this.#from === undefined) return 'no credential'
    if (left === undefined) return 'no known expiry'
    return left <= 0 ? 'expired' : `${spellTimeLeft(left)} left`
  }

  #share(left) {
    return Math.min(1, Math.max(0, left / Math.max(1, this.#until - this.#from)))
  }

  #offset(left) {
    if (this.#from === undefined) return LENGTH
    return left === undefined ? 0 : LENGTH * (1 - this.#share(left))
  }
}
