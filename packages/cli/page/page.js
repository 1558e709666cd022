import { announce } from './announce.js'
import { setClock } from './clock.js'
import { Connection } from './connection.js'
import { byId, setAttribute, setText } from './dom.js'
import { EventList } from './event-list.js'
import { formatDuration } from './format.js'
import { headline, Identities } from './identities.js'
import { LatencyChart } from './latency-chart.js'

import { RateChart } from './rate-chart.js'
import { ask, hasSecret, takeSecret } from './secret.js'
import { Timeline } from './timeline.js'

const WELCOMES = {
  missing: {
    heading: 'Open the printed address',
    text: 'The part of the address after the # is the secret of this page. It is kept in memory only, so a reload loses it.',
    why: 'Copy the whole line from the terminal, or press Ctrl and click it there.',
  },
  stranger: {
    heading: 'Open the new address',
    text: 'The program does not accept the secret of this page. It has probably been restarted, and has printed a new address.',
    why: 'To keep the address across restarts, start the program with the same port and secret.',
  },
}

const timeline = new Timeline()
const charts = [new RateChart(), new LatencyChart()]
const events = new EventList(timeline)
const identities = new Identities(timeline, { onPress: press })
const connection = new Connection({ onSnapshot: show, onState: showLink })
let link = { name: 'connecting' }
let lastHeadline

// Pasting the address into this tab changes only the fragment, and does not reload the page.
addEventListener('hashchange', () => {
  if (takeSecret()) begin()
})
addEventListener('online', () => link.name === 'lost' && connection.open())
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible' && link.name === 'lost') connection.open()
})
byId('banner-button').addEventListener('click', () => connection.open())
byId('skip').addEventListener('click', (event) => {
  event.preventDefault()
  byId('identities').focus()
})
setInterval(tick, 1000)
takeSecret()
begin()

function begin() {
  if (hasSecret()) connection.open()
  else showWelcome('missing')
}

function show(snapshot) {
  setClock(snapshot.now)
  byId('welcome').hidden = true
  byId('live').hidden = false
  timeline.take(snapshot)
  identities.update(snapshot.identities)
  for (const chart of charts) chart.update(snapshot.traffic)
  events.draw()
  setText(byId('where'), snapshot.title)
  setText(byId('version'), `kubecred ${snapshot.version}`)
  const { text, subline, isGood } = headline(snapshot.identities)
  setText(byId('headline'), text)
  setText(byId('subline'), subline)
  document.title = `${isGood ? '' : '⚠ '}${text} – kubecred`
  if (lastHeadline !== undefined && lastHeadline.isGood !== isGood) announce(text)
  lastHeadline = { isGood }
}

function tick() {
  if (document.visibilityState === 'hidden') return
  if (link.name === 'lost') drawBanner()
  if (byId('live').hidden) return
  identities.tick()
  for (const chart of charts) chart.tick()
}

function showLink(next) {
  if (next.name === 'live' && link.name === 'lost') announce('Connected again')
  if (next.name === 'lost' && link.name === 'live') announce('Connection lost')
  link = next
  setAttribute(byId('link'), 'data-state', next.name)
  setText(
    byId('link-text'),
    { live: 'live', lost: 'not connected', stranger: 'not connected' }[next.name],
  )
  document.body.classList.toggle('is-stale', next.name !== 'live')
  if (next.name === 'stranger') showWelcome('stranger')
  drawBanner()
}

function drawBanner() {
  byId('banner').hidden = link.name !== 'lost'
  if (link.name !== 'lost') return
  const text = byId('live').hidden
    ? 'The program does not respond. Reconnecting…'
    : 'The program does not respond: this is the last known state. Reconnecting…'
  setText(byId('banner-text'), text)
}

function showWelcome(name) {
  const { heading, text, why } = WELCOMES[name]
  byId('live').hidden = true
  byId('welcome').hidden = false
  setText(byId('welcome-heading'), heading)
  setText(byId('welcome-text'), text)
  setText(byId('welcome-why'), why)
  setText(byId('welcome-address'), `${location.origin}/#…`)
  setAttribute(byId('link'), 'data-state', 'stranger')
  setText(byId('link-text'), 'not connected')
  document.title = `${heading} – kubecred`
}

/** Performs the action of a button, and announces its outcome. */
async function press(verb, { id, title }) {
  const outcome = await perform(verb, id)
  announce(`${title}: ${outcome.text}`)
  return outcome
}

async function perform(verb, id) {
  try {
    const response = await ask(`/identities/${encodeURIComponent(id)}/${verb}`, { method: 'POST' })
    if (!response.ok) return { ok: false, text: (await response.text()).trim() }
    const { ok, tookMs, error } = await response.json()
    if (!ok) return { ok, text: error.message }
    return { ok, text: verb === 'forget' ? 'Forgotten' : `Refreshed in ${formatDuration(tookMs)}` }
  } catch {
    return { ok: false, text: 'The program does not respond' }
  }
}
