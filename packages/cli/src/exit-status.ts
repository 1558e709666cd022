/** Exit statuses besides those of the error codes, which are 10 to 99. */
export const EXIT = {
  done: 0,
  /** The server answered 400 or more. */
  refused: 1,
  usage: 2,
  /** An internal error. */
  unexpected: 70,
} as const
