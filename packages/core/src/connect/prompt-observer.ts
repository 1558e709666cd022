import type { Observer, SourceLabel } from '../ports/observer.ts'

/** What a signer wants of the person in front of it. */
export interface UserPrompt {
  /** One line, without control characters or anything secret. */
  readonly text: string
  readonly source: SourceLabel
  /** Aborted when it is done, or will not be done any more: then the text can go. */
  readonly signal: AbortSignal
}

/** Makes an observer that shows prompts, each until it is over or the next one takes its place. */
export function promptObserver(onPrompt: (prompt: UserPrompt) => void): Observer {
  const shown = new Map<SourceLabel, AbortController>()
  return (event) => {
    const { source, type } = event
    const isOver = type === 'user-prompt' || type === 'prompt-ended' || type === 'released'
    if (!isOver) return undefined
    shown.get(source)?.abort()
    shown.delete(source)
    if (type !== 'user-prompt') return undefined
    const controller = new AbortController()
    shown.set(source, controller)
    // Its promise, if it is one, goes to who calls observers: a rejection must not end the process.
    return onPrompt({ text: event.text, source, signal: controller.signal })
  }
}
