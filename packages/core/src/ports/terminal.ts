/** The terminal of the user. */
export interface Terminal {
  /** Returns whether standard input is currently a terminal. */
  isTerminal(): boolean
}
