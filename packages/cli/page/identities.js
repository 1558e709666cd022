import { Card, searchText } from './card.js'
import { now } from './clock.js'
import { arrange, byId, setAttribute, setText } from './dom.js'
import { count } from './format.js'
import { describeState } from './identity-state.js'

/** A list of up to this length has no filter. */
const FEW = 6
const PAGE = 48

/** The cards of all identities, or of those that match the filter, a page at a time. */
export class Identities {
  #cards = new Map()
  #views = []
  #timeline
  #onPress
  #limit = PAGE
  #query = ''
  #onlyTroubled = false
  #visibility = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const card = [...this.#cards.values()].find(({ node }) => node === target)
      if (card === undefined) continue
      card.isVisible = isIntersecting
      if (isIntersecting) card.tick()
    }
  })

  constructor(timeline, { onPress }) {
    this.#timeline = timeline
    this.#onPress = onPress
    byId('filter').addEventListener('input', (event) => {
      this.#query = event.target.value.trim().toLowerCase()
      this.#limit = PAGE
      this.draw()
    })
    byId('attention').addEventListener('click', (event) => {
      this.#onlyTroubled = !this.#onlyTroubled
      setAttribute(event.currentTarget, 'aria-pressed', String(this.#onlyTroubled))
      this.#limit = PAGE
      this.draw()
    })
    byId('more').addEventListener('click', () => this.#showMore())
  }

  update(views) {
    this.#views = views
    const ids = new Set(views.map(({ id }) => id))
    for (const [id, card] of this.#cards) {
      if (ids.has(id)) continue
      this.#visibility.unobserve(card.node)
      this.#cards.delete(id)
    }
    this.draw()
  }

  draw() {
    const wanted = this.#views.filter((view) => this.#isWanted(view))
    const shown = wanted.slice(0, this.#limit)
    const nodes = shown.map((view) => this.#card(view).node)
    arrange(byId('cards'), nodes)
    this.#drawTools(wanted.length)
    const rest = wanted.length - shown.length
    byId('more').hidden = rest === 0
    setText(byId('more'), `Show ${Math.min(rest, PAGE)} more of ${rest}`)
  }

  tick() {
    for (const view of this.#views) {
      const card = this.#cards.get(view.id)
      if (card?.isVisible && card.node.isConnected) card.tick()
    }
  }

  #drawTools(found) {
    const all = this.#views.length
    const trouble = this.#views.filter((view) => describeState(view, now()).isTrouble).length
    byId('tools').hidden = all <= FEW
    setText(byId('attention'), `Need attention: ${trouble}`)
    setText(byId('count'), found === all ? String(all) : `${found} of ${all}`)
    byId('no-identities').hidden = found > 0
    setText(
      byId('no-identities'),
      all > 0
        ? 'No identity matches.'
        : 'No identity yet. Each cluster connection of the program appears here with its credential.',
    )
  }

  #isWanted(view) {
    const { text, isTrouble } = describeState(view, now())
    if (this.#onlyTroubled && !isTrouble) return false
    return this.#query === '' || searchText(view, text).includes(this.#query)
  }

  #card(view) {
    let card = this.#cards.get(view.id)
    if (card === undefined) {
      card = new Card(view, { onPress: this.#onPress })
      this.#cards.set(view.id, card)
      this.#visibility.observe(card.node)
    }
    card.update(view, this.#timeline.of(view.id))
    return card
  }

  /** Shows the next page, and focuses its first card, because the button may disappear. */
  #showMore() {
    const before = byId('cards').children.length
    this.#limit += PAGE
    this.draw()
    byId('cards').children[before]?.querySelector('button')?.focus()
  }
}

/** Summarizes all identities in one sentence, with advice or totals below it. */
export function headline(views) {
  const troubled = views.filter((view) => describeState(view, now()).isTrouble)
  const prompts = views.filter(({ prompt }) => prompt !== undefined)
  const ready = views.filter((view) => describeState(view, now()).mood === 'good').length
  const text = sentence(views, { troubled, prompts, ready })
  const advice = prompts[0]?.prompt ?? troubled[0]?.credential.lastError?.hint
  return { text, subline: advice ?? sums(views), isGood: troubled.length === 0 }
}

function sums(views) {
  const runs = views.reduce((sum, { credential }) => sum + credential.runs, 0)
  const retried = views.reduce((sum, view) => sum + view.retried, 0)
  return [
    runs === 0 ? 'No plugin or signer has run yet' : `${count(runs, 'run')} so far`,
    ...(retried > 0 ? [`${count(retried, 'request')} retried after a refusal`] : []),
  ].join(' · ')
}

function sentence(views, { troubled, prompts, ready }) {
  if (views.length === 0) return 'No identities yet'
  if (prompts.length > 0) return `${prompts[0].title} is waiting for you`
  if (troubled.length === 1) return `${troubled[0].title} needs attention`
  if (troubled.length > 1)
    return `${troubled.length} of ${count(views.length, 'identity')} need attention`
  if (ready === views.length)
    return views.length === 1 ? 'Ready' : `All ${count(views.length, 'identity')} are ready`
  return `No problems: ${ready} of ${count(views.length, 'identity')} in use`
}
