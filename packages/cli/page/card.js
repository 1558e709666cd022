import { now } from './clock.js'
import { element, setAttribute, setText } from './dom.js'
import { count, formatDuration, formatSource, formatTimeLeft } from './format.js'
import { describeState } from './identity-state.js'
import { Ring } from './ring.js'
import { Strip } from './strip.js'

const FEEDBACK_MS = 8000

/** The card of one identity. */
export class Card {
  #ring = new Ring()
  #strip = new Strip()
  #chip = element('p', { class: 'chip' })
  #title = element('h3')
  #source = element('p', { class: 'source' })
  #parts = element('p', { class: 'chip plain', hidden: '' })
  #facts = element('dl', { class: 'facts' })
  #prompt = element('p', { class: 'prompt', hidden: '' })
  #error = element('div', { class: 'problem', hidden: '' })
  #login = element('p', { class: 'problem-text', hidden: '' })
  #errorText = element('p', { class: 'problem-text' })
  #hint = element('p', { class: 'problem-hint' })
  #nextTry = element('p', { class: 'problem-next' })
  #feedback = element('p', { class: 'feedback' })
  #renew = element('button', { type: 'button', class: 'button main', text: 'Refresh now' })
  #forget = element('button', { type: 'button', class: 'button', text: 'Forget' })
  #view
  #written
  #events = []
  #feedbackTimer
  isVisible = true

  constructor(view, { onPress }) {
    this.#error.append(this.#login, this.#errorText, this.#hint, this.#nextTry)
    this.node = element(
      'li',
      { class: 'card' },
      element(
        'div',
        { class: 'card-head' },
        this.#ring.node,
        element(
          'div',
          { class: 'card-name' },
          this.#title,
          this.#source,
          element('div', { class: 'chips' }, this.#chip, this.#parts),
        ),
      ),
      this.#prompt,
      this.#error,
      this.#facts,
      this.#strip.node,
      element('div', { class: 'card-foot' }, this.#renew, this.#forget, this.#feedback),
    )
    this.#renew.addEventListener('click', () => this.#press('renew', onPress))
    this.#forget.addEventListener('click', () => this.#press('forget', onPress))
    setAttribute(this.#renew, 'aria-label', `Refresh now: ${view.title}`)
    setAttribute(this.#forget, 'aria-label', `Forget: ${view.title}`)
    setAttribute(
      this.#renew,
      'title',
      'Obtain a new credential now. The old one stays in use until then.',
    )
    setAttribute(this.#forget, 'title', 'Drop the credential. The next request obtains a new one.')
  }

  get view() {
    return this.#view
  }

  /** Shows the current view and events of the identity. */
  update(view, events) {
    this.#view = view
    this.#events = events
    const written = JSON.stringify(view)
    if (written !== this.#written) {
      this.#written = written
      this.#write(view)
    }
    if (this.isVisible) this.tick()
  }

  /** Updates what changes with time. */
  tick() {
    const { credential } = this.#view
    const state = describeState(this.#view, now())
    setText(this.#chip, state.text)
    setAttribute(this.node, 'data-mood', state.mood)
    setAttribute(this.node, 'data-busy', state.isBusy ? '' : undefined)
    this.#ring.show({ from: credential.acquiredAt, until: credential.expiresAt })
    this.#strip.draw(this.#events, credential)
    const pause = (credential.nextTryAt ?? 0) - now()
    setText(this.#nextTry, pause > 0 ? `Next try in ${formatTimeLeft(pause).join(' ')}.` : '')
  }

  #write({ title, credential, parts = [], prompt, refusals, retried, signatures, server }) {
    const source = formatSource(credential.source)
    setText(this.#title, title)
    this.#source.replaceChildren(
      source.kind,
      ' ',
      element('b', { text: source.name, title: credential.source.name }),
    )
    this.#parts.hidden = parts.length === 0
    setText(this.#parts, parts.join(' and '))
    setAttribute(this.#title, 'title', server)
    const facts = [
      ['Runs', String(credential.runs)],
      ['Last run', credential.lastRunMs === undefined ? '–' : formatDuration(credential.lastRunMs)],
      ['Refused', String(refusals)],
      ['Retried', String(retried)],
      ...(credential.source.kind === 'signer' || signatures > 0
        ? [['Signed', String(signatures)]]
        : []),
    ]
    this.#facts.replaceChildren(
      ...facts.map(([name, value]) =>
        element('div', {}, element('dt', { text: name }), element('dd', { text: value })),
      ),
    )
    this.#prompt.hidden = prompt === undefined
    setText(this.#prompt, prompt ?? '')
    const { lastError } = credential
    this.#error.hidden = lastError === undefined
    if (lastError === undefined) return
    const { message, loginCommand } = lastError
    this.#login.hidden = loginCommand === undefined
    setText(this.#login, `Needs a login: run ${loginCommand}`)
    setText(this.#errorText, message)
    this.#hint.replaceChildren(lastError.hint, ' ', element('code', { text: lastError.code }))
  }

  async #press(verb, onPress) {
    const button = verb === 'renew' ? this.#renew : this.#forget
    if (button.getAttribute('aria-disabled') === 'true') return
    // Not `disabled`, which would take the focus away from keyboard users.
    setAttribute(button, 'aria-disabled', 'true')
    this.#showFeedback(verb === 'renew' ? 'Refreshing…' : 'Forgetting…', 'busy')
    const { ok, text } = await onPress(verb, this.#view)
    setAttribute(button, 'aria-disabled', undefined)
    this.#showFeedback(text, ok ? 'good' : 'bad')
  }

  #showFeedback(text, mood) {
    clearTimeout(this.#feedbackTimer)
    setText(this.#feedback, text)
    setAttribute(this.#feedback, 'data-mood', mood)
    if (mood !== 'busy')
      this.#feedbackTimer = setTimeout(() => setText(this.#feedback, ''), FEEDBACK_MS)
  }
}

/** Returns the text that the filter searches. */
export function searchText({ title, context = '', user = '', server, credential }, stateText) {
  return [
    title,
    context,
    user,
    server,
    credential.source.kind,
    credential.source.name,
    stateText,
    count(credential.runs, 'run'),
  ]
    .join('\n')
    .toLowerCase()
}
