import { byId } from './dom.js'

/** Not more often than this: who listens must also hear the rest of the page. */
const PAUSE_MS = 4000

let saidAt = Number.NEGATIVE_INFINITY
let timer

/** Says a sentence to those who listen. Of several in a row the last one counts. */
export function announce(text) {
  clearTimeout(timer)
  const wait = Math.max(0, saidAt + PAUSE_MS - performance.now())
  timer = setTimeout(() => {
    saidAt = performance.now()
    byId('announce').textContent = text
  }, wait)
}
