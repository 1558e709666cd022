import { arrange, byId, element, setAttribute, setText } from './dom.js'
import { formatTime, KINDS } from './format.js'

const MAX_ROWS = 100

/**
 * The list of events, the newest first, and the buttons that filter it.
 *
 * An event that repeats has one row, with how often it occurred and when it last did.
 */
export class EventList {
  #rows = new Map()
  #only = new Set()
  #timeline
  #buttons

  constructor(timeline) {
    this.#timeline = timeline
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
    const { events } = this.#timeline
    const kinds = new Set(events.map(({ kind }) => kind))
    for (const button of this.#buttons) button.hidden = !kinds.has(button.dataset.kind)
    const wanted =
      this.#only.size === 0 ? events : events.filter(({ kind }) => this.#only.has(kind))
    const shown = fold(wanted).slice(0, MAX_ROWS)
    this.#rows = new Map(shown.map((group) => [group.last.key, this.#row(group)]))
    arrange(
      byId('events'),
      Array.from(this.#rows.values(), ({ node }) => node),
    )
    byId('no-events').hidden = shown.length > 0
    setText(byId('no-events'), events.length === 0 ? 'No events yet.' : 'No events of this kind.')
  }

  #toggle(kind, button) {
    if (!this.#only.delete(kind)) this.#only.add(kind)
    setAttribute(button, 'aria-pressed', String(this.#only.has(kind)))
    this.draw()
  }

  #row(group) {
    const row = this.#rows.get(group.last.key) ?? new Row(group.last)
    row.show(group)
    return row
  }
}

/** Groups events with the same key, the group with the newest event first. */
function fold(events) {
  const groups = new Map()
  for (const event of events.toReversed()) {
    const group = groups.get(event.key)
    if (group === undefined) groups.set(event.key, { last: event, first: event, times: 1 })
    else {
      group.first = event
      group.times += 1
    }
  }
  return [...groups.values()]
}

class Row {
  #times = element('span', { class: 'event-times', hidden: '' })
  #time = element('time')
  #text = element('p', { class: 'event-text' })

  constructor({ kind, title }) {
    const { glyph, name } = KINDS[kind] ?? { glyph: '·', name: kind }
    this.node = element(
      'li',
      { class: 'event', 'data-kind': kind },
      element('span', { class: 'glyph', 'aria-hidden': 'true', text: glyph }),
      element(
        'div',
        {},
        element(
          'p',
          { class: 'event-head' },
          element(
            'span',
            {},
            element('b', { text: title }),
            ' ',
            element('span', { class: 'event-kind', text: name }),
            ' ',
            this.#times,
          ),
          this.#time,
        ),
        this.#text,
      ),
    )
  }

  show({ last, first, times }) {
    this.#times.hidden = times === 1
    setText(this.#times, `× ${times}`)
    setAttribute(this.#times, 'title', `${times} times since ${formatTime(first.at)}`)
    setAttribute(this.#time, 'datetime', new Date(last.at).toISOString())
    setText(this.#time, formatTime(last.at))
    setText(this.#text, last.text)
  }
}
