/** Time and timers. */
export interface Clock {
  /** Returns the wall-clock time in milliseconds since the epoch. It may jump. */
  now(): number
  /** Starts a timer that does not keep the process alive. Returns a function that cancels it. */
  after(milliseconds: number, callback: () => void): () => void
  /** Starts a timer that keeps the process alive, for a time that a caller waits for. Returns a function that cancels it. */
  afterRef(milliseconds: number, callback: () => void): () => void
  /** Parses an HTTP date into milliseconds since the epoch; returns NaN if it is invalid. */
  parseDate(text: string): number
}
