let offset = 0

/** Sets the clock to the program's, which may run on another machine (ssh -L). */
export function setClock(programNow) {
  offset = programNow - Date.now()
}

/** Returns the current time by the clock of the program. */
export function now() {
  return Date.now() + offset
}

/** Returns whether the user prefers reduced motion. */
export function prefersReducedMotion() {
  return matchMedia('(prefers-reduced-motion: reduce)').matches
}
