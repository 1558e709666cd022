import { openSync, writeSync } from 'node:fs'
import process from 'node:process'
import { isatty, ReadStream } from 'node:tty'
import { PluginNeedsTerminalError } from '../../errors/index.ts'
import { programName } from './plugin-process.ts'

/** Options of a question. */
export interface PromptOptions {
  /** Hides what is typed; false by default. */
  readonly secret?: boolean
}

/** Asks a question at the terminal. Resolves with the line typed, without its line break. */
export type Prompt = (question: string, options?: PromptOptions) => Promise<string>

/** The circumstances of questions. */
export interface PromptSettings {
  readonly interactive: boolean
  /** Ends a question that has not been answered yet. */
  readonly signal: AbortSignal
  /** Called for Ctrl-C while the terminal is in raw mode, in which it sends no signal. */
  readonly interrupt: () => void
  /** Makes the error for a question that cannot be asked; a `PluginNeedsTerminalError` by default. */
  readonly makeError?: (reason: string) => Error
}

/** Returns a function that asks questions. Simultaneous questions are asked one after another. */
export function makePrompt(settings: PromptSettings): Prompt {
  let terminal: PromptTerminal | undefined
  let last: Promise<unknown> = Promise.resolve()
  const ask = async (question: string, { secret = false }: PromptOptions): Promise<string> => {
    if (!settings.interactive) throw noTerminalError('the client runs it without a terminal')
    terminal ??= openTerminal()
    if (terminal === undefined) {
      const { makeError } = settings
      if (makeError !== undefined) throw makeError('there is no terminal')
      throw noTerminalError('there is no terminal, although the client announced one')
    }
    return secret
      ? await askHidden(question, terminal, settings)
      : await askVisible(question, terminal, settings)
  }
  return (question, options = {}) => {
    const next = last.then(() => ask(question, options))
    last = next.catch(() => {})
    return next
  }
}

function noTerminalError(reason: string): PluginNeedsTerminalError {
  return new PluginNeedsTerminalError(programName(), `cannot prompt: ${reason}`, {
    hint: 'Log in first, or run the client in a terminal with interactiveMode: IfAvailable in the exec stanza.',
  })
}

function askVisible(
  question: string,
  { input, write }: PromptTerminal,
  settings: PromptSettings,
): Promise<string> {
  write(question)
  return readLine(input, settings)
}

async function askHidden(
  question: string,
  { input, write }: PromptTerminal,
  settings: PromptSettings,
): Promise<string> {
  // However the process ends, the terminal must show what is typed again.
  const restore = (): void => void input.setRawMode(false)
  process.once('exit', restore)
  // Before the question, so that nothing typed early is shown.
  input.setRawMode(true)
  try {
    write(question)
    return await readLine(input, settings)
  } finally {
    restore()
    process.off('exit', restore)
    write('\n')
  }
}

function readLine(input: ReadStream, settings: PromptSettings): Promise<string> {
  const { signal, interrupt, makeError = noTerminalError } = settings
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
    const onEnd = (): void => fail(makeError('its input was closed before an answer'))
    const onError = (): void => fail(makeError('the terminal is gone'))
    const onAbort = (): void => fail(signal.reason)
    const onData = (chunk: Buffer): void => {
      const typed: Typed = line.feed(decoder.decode(chunk, { stream: true }))
      if (typed.is === 'interrupt') interrupt()
      if (typed.is === 'closed') onEnd()
      if (typed.is !== 'line') return
      stop()
      // Text typed ahead or pasted answers the next question.
      if (typed.rest !== '') input.unshift(typed.rest)
      resolve(typed.text)
    }
    if (signal.aborted) return fail(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    input.on('data', onData).once('end', onEnd).once('error', onError)
    input.ref().resume()
  })
}

/** The terminal of the user. */
interface PromptTerminal {
  readonly input: ReadStream
  write(text: string): void
}

/**
 * Opens the terminal: standard input and standard error if they are terminals, otherwise `/dev/tty`.
 *
 * Standard output is never used, because it is for the answer.
 *
 * @returns undefined if there is no terminal.
 */
function openTerminal(): PromptTerminal | undefined {
  const input = openInput()
  return input && { input, write: openOutput() }
}

function openInput(): ReadStream | undefined {
  if (isatty(0)) return process.stdin
  const descriptor = openDevice('r')
  return descriptor === undefined ? undefined : new ReadStream(descriptor)
}

function openOutput(): (text: string) => void {
  const descriptor = isatty(2) ? undefined : openDevice('w')
  if (descriptor !== undefined) return (text) => void writeSync(descriptor, text)
  return (text) => void process.stderr.write(text)
}

/** Returns undefined on Windows, where another user could create a file with that name, and without a terminal. */
function openDevice(mode: 'r' | 'w'): number | undefined {
  if (process.platform === 'win32') return undefined
  try {
    return openSync('/dev/tty', mode)
  } catch {
    return undefined
  }
}

/** The result of one piece of input. */
export type Typed =
  | { readonly is: 'line'; readonly text: string; readonly rest: string }
  | { readonly is: 'interrupt' | 'closed' | 'more' }

const MORE: Typed = { is: 'more' }

/**
 * Collects one line from a terminal in raw mode.
 *
 * Implements the line editing that raw mode turns off: backspace, Ctrl-U, Ctrl-W, Ctrl-C and Ctrl-D. Arrows and other
 * keys that type nothing are dropped, because in a password they would be invisible mistakes. Whole lines of a terminal
 * in cooked mode pass through unchanged.
 */
export class TypedLine {
  #text = ''
  #escape = ''

  feed(typed: string): Typed {
    let at = 0
    for (const key of typed) {
      at += key.length
      if (this.#isInEscape(key)) continue
      if (key === '\r' || key === '\n' || (key === '\x04' && this.#text !== '')) {
        // Pasted text may end lines with CR LF.
        const rest = typed.slice(key === '\r' && typed[at] === '\n' ? at + 1 : at)
        return { is: 'line', text: this.#text, rest }
      }
      if (key === '\x03') return { is: 'interrupt' }
      if (key === '\x04') return { is: 'closed' }
      this.#edit(key)
    }
    return MORE
  }

  #edit(key: string): void {
    if (key === '\x7f' || key === '\b') this.#text = [...this.#text].slice(0, -1).join('')
    else if (key === '\x15') this.#text = ''
    else if (key === '\x17') this.#text = this.#text.trimEnd().replace(/\S+$/, '')
    else if (key >= ' ' || key === '\t') this.#text += key
  }

  /** Keys such as the arrows send ESC, `[` or `O`, and end with a letter or `~`. */
  #isInEscape(key: string): boolean {
    if (key === '\x1b') {
      this.#escape = key
      return true
    }
    if (this.#escape === '') return false
    const isFirst = this.#escape === '\x1b'
    const continues = isFirst ? key === '[' || key === 'O' : /[0-9;?]/.test(key)
    // A lone ESC types nothing, and the next key is a separate one.
    const isSeparateKey = isFirst && !continues
    this.#escape = continues ? this.#escape + key : ''
    return !isSeparateKey
  }
}
