/** The demo could not start; the message has the reason. */
export class StartError extends Error {}
