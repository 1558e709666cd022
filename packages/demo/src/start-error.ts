/** The demo could not begin; the message says why. */
export class StartError extends Error {}
