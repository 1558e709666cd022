/** The person who could be asked. */
export interface Terminal {
  /** Whether standard input is a terminal right now. */
  isTerminal(): boolean
}
