let offset = 0

/** Sets the clock by the program's: both run on one machine, but not always (ssh -L). */
export function setClock(programNow) {
  offset = programNow - Date.now()
}

/** Now, by the clock of the program. */
export function now() {
  return Date.now() + offset
}

/** Whether the reader wants things to stand still. */
export function wantsStillness() {
  return matchMedia('(prefers-reduced-motion: reduce)').matches
}
