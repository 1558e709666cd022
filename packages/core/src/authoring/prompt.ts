import process from 'node:process'
import type { ReadStream } from 'node:tty'
import { PluginNeedsTerminalError } from '../errors/plugin-errors.ts'
import { programName } from './program-name.ts'
import { type AskingTerminal, openTerminal } from './terminal.ts'
import { type Typed, TypedLine } from './typed-line.ts'

export interface PromptOptions {
  /** What is typed is not shown. */
  readonly secret?: boolean
}

/** Asks the person at the terminal and gives the line they typed, without its end. */
export type Prompt = (question: string, options?: PromptOptions) => Promise<string>

export interface Prompting {
  readonly interactive: boolean
  /** Ends a question that nobody has answered yet. */
  readonly signal: AbortSignal
  /** Called for Ctrl-C while the terminal hands over keys, and so sends no signal itself. */
  readonly interrupt: () => void
  /** Makes the error for a question that nobody can be asked; a plugin's own unless told. */
  readonly refuse?: (reason: string) => Error
}

/** Makes the function that asks. Questions asked at the same time are asked one after another. */
export function makePrompt(prompting: Prompting): Prompt {
  let terminal: AskingTerminal | undefined
  let last: Promise<unknown> = Promise.resolve()
  const ask = async (question: string, { secret = false }: PromptOptions): Promise<string> => {
    if (!prompting.interactive) throw withoutTerminal('the client runs it without a terminal')
    terminal ??= openTerminal()
    if (terminal === undefined) {
      const { refuse } = prompting
      if (refuse !== undefined) throw refuse('there is no terminal')
      throw withoutTerminal('there is no terminal, though the client said so')
    }
    return secret
      ? await askHidden(question, terminal, prompting)
      : await askOpenly(question, terminal, prompting)
  }
  return (question, options = {}) => {
    const next = last.then(() => ask(question, options))
    last = next.catch(() => {})
    return next
  }
}

function withoutTerminal(reason: string): PluginNeedsTerminalError {
  return new PluginNeedsTerminalError(programName(), `cannot ask anybody: ${reason}`, {
    hint: 'Log in beforehand, or run the client in a terminal, with interactiveMode: IfAvailable in the exec stanza.',
  })
}

function askOpenly(
  question: string,
  { input, write }: AskingTerminal,
  prompting: Prompting,
): Promise<string> {
  write(question)
  return readLine(input, prompting)
}

async function askHidden(
  question: string,
  { input, write }: AskingTerminal,
  prompting: Prompting,
): Promise<string> {
  // Whichever way the process ends, the next program finds a terminal that shows what is typed.
  const restore = (): void => void input.setRawMode(false)
  process.once('exit', restore)
  // Before the question: from here on nothing is shown, however fast somebody types.
  input.setRawMode(true)
  try {
    write(question)
    return await readLine(input, prompting)
  } finally {
    restore()
    process.off('exit', restore)
    write('\n')
  }
}

function readLine(input: ReadStream, prompting: Prompting): Promise<string> {
  const { signal, interrupt, refuse = withoutTerminal } = prompting
  return new Promise((resolve, reject) => {
    const decoder = new TextDecoder()
    const line = new TypedLine()
    const stop = (): void => {
      input.off('data', onData).off('end', onEnd).off('error', onError)
      signal.removeEventListener('abort', onAbort)
      input.pause().unref()
    }
    const fail = (error: unknown): void => {
      stop()
      reject(error)
    }
    const onEnd = (): void => fail(refuse('its input was closed before an answer'))
    const onError = (): void => fail(refuse('the terminal is gone'))
    const onAbort = (): void => fail(signal.reason)
    const onData = (chunk: Buffer): void => {
      const typed: Typed = line.feed(decoder.decode(chunk, { stream: true }))
      if (typed.is === 'interrupt') interrupt()
      if (typed.is === 'closed') onEnd()
      if (typed.is !== 'line') return
      stop()
      // Typed ahead, or pasted: it answers the next question.
      if (typed.rest !== '') input.unshift(typed.rest)
      resolve(typed.text)
    }
    if (signal.aborted) return fail(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    input.on('data', onData).once('end', onEnd).once('error', onError)
    input.ref().resume()
  })
}
