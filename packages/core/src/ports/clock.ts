/** Time for the engine. */
export interface Clock {
  /** Wall-clock time in milliseconds since the epoch. It may jump. */
  now(): number
  /** Calls back once after the given time, without keeping the process alive. Returns how to cancel it. */
  after(milliseconds: number, callback: () => void): () => void
  /** The same for a time that somebody waits for: the process stays alive until then. */
  awaited(milliseconds: number, callback: () => void): () => void
  /** Reads an HTTP date, to milliseconds since the epoch; NaN if it is none. */
  parseDate(text: string): number
}
