import { openSync, writeSync } from 'node:fs'
import process from 'node:process'
import { isatty, ReadStream } from 'node:tty'
import { PluginNeedsTerminalError } from '../../errors/index.ts'
import { programName } from './plugin-process.ts'

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

/** The terminal of the person who waits for the plugin. */
interface AskingTerminal {
  readonly input: ReadStream
  write(text: string): void
}

/**
 * Opens the terminal: standard input and standard error where they are one, else `/dev/tty`.
 *
 * Standard output is never it, because the answer goes there.
 *
 * @returns undefined when there is none.
 */
function openTerminal(): AskingTerminal | undefined {
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

/** There is no such file on Windows, and it cannot be opened without a controlling terminal. */
function openDevice(mode: 'r' | 'w'): number | undefined {
  try {
    return openSync('/dev/tty', mode)
  } catch {
    return undefined
  }
}

/** What a piece of typing led to. */
export type Typed =
  | { readonly is: 'line'; readonly text: string; readonly rest: string }
  | { readonly is: 'interrupt' | 'closed' | 'more' }

const MORE: Typed = { is: 'more' }

/**
 * Collects one line from a terminal that hands over every key as it is pressed.
 *
 * It does what the terminal does otherwise: backspace, Ctrl-U, Ctrl-W, Ctrl-C and Ctrl-D. Arrows and
 * other keys that type nothing are dropped; in a password they would be invisible mistakes. A terminal
 * that edits lines itself hands over whole ones, which pass through unchanged.
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
        // Pasted text ends lines with both.
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

  /** Keys like the arrows send ESC, a bracket or O, and end with a letter or `~`. */
  #isInEscape(key: string): boolean {
    if (key === '\x1b') {
      this.#escape = key
      return true
    }
    if (this.#escape === '') return false
    const isFirst = this.#escape === '\x1b'
    const goesOn = isFirst ? key === '[' || key === 'O' : /[0-9;?]/.test(key)
    // A lone ESC types nothing, and the key after it is one of its own.
    const isKeyOfItsOwn = isFirst && !goesOn
    this.#escape = goesOn ? this.#escape + key : ''
    return !isKeyOfItsOwn
  }
}
