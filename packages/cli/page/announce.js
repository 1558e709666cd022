import { byId } from './dom.js'

/** Minimum interval between announcements, so that a screen reader can also read the rest of the page. */
const PAUSE_MS = 4000

let announcedAt = Number.NEGATIVE_INFINITY
let timer

/** Announces a sentence to screen readers. Of several in quick succession only the last is announced. */
export function announce(text) {
  clearTimeout(timer)
  const wait = Math.max(0, announcedAt + PAUSE_MS - performance.now())
  timer = setTimeout(() => {
    announcedAt = performance.now()
    byId('announce').textContent = text
  }, wait)
}
