import { arrange, byId, element, setAttribute, setText } from './dom.js'
import { KINDS, timeOfDay } from './words.js'

const MOST_ROWS = 100

/** The list of what happened, the newest first, and the buttons that narrow it. */
export class Moments {
  #rows = new Map()
  #only = new Set()
  #history
  #buttons

  constructor(history) {
    this.#history = history
    this.#buttons = Object.entries(KINDS).map(([kind, { name, glyph }]) => {
      const button = element(
        'button',
        { type: 'button', class: 'kind', 'aria-pressed': 'false', 'data-kind': kind, hidden: '' },
        element('span', { class: 'glyph', 'aria-hidden': 'true', text: glyph }),
        name,
      )
      button.addEventListener('click', () => this.#toggle(kind, button))
      return button
    })
    byId('kinds').append(...this.#buttons)
  }

  draw() {
    const { moments } = this.#history
    const seen = new Set(moments.map(({ kind }) => kind))
    for (const button of this.#buttons) button.hidden = !seen.has(button.dataset.kind)
    const wanted =
      this.#only.size === 0 ? moments : moments.filter(({ kind }) => this.#only.has(kind))
    const shown = wanted.slice(-MOST_ROWS).reverse()
    const rows = shown.map((moment) => this.#row(moment))
    this.#rows = new Map(shown.map((moment, at) => [moment, rows[at]]))
    arrange(byId('moments'), rows)
    byId('no-moments').hidden = rows.length > 0
    setText(
      byId('no-moments'),
      moments.length === 0 ? 'Nothing has happened yet.' : 'Nothing of this kind.',
    )
  }

  #toggle(kind, button) {
    if (!this.#only.delete(kind)) this.#only.add(kind)
    setAttribute(button, 'aria-pressed', String(this.#only.has(kind)))
    this.draw()
  }

  #row(moment) {
    return this.#rows.get(moment) ?? makeRow(moment)
  }
}

function makeRow({ at, kind, title, text }) {
  const { glyph, name } = KINDS[kind] ?? { glyph: '·', name: kind }
  return element(
    'li',
    { class: 'moment', 'data-kind': kind },
    element('span', { class: 'glyph', 'aria-hidden': 'true', text: glyph }),
    element(
      'div',
      {},
      element(
        'p',
        { class: 'moment-head' },
        element(
          'span',
          {},
          element('b', { text: title }),
          ' ',
          element('span', { class: 'moment-kind', text: name }),
        ),
        element('time', { datetime: new Date(at).toISOString(), text: timeOfDay(at) }),
      ),
      element('p', { class: 'moment-text', text }),
    ),
  )
}
