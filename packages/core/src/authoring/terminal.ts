import { openSync, writeSync } from 'node:fs'
import process from 'node:process'
import { isatty, ReadStream } from 'node:tty'

/** The terminal of the person who waits for the plugin. */
export interface AskingTerminal {
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
export function openTerminal(): AskingTerminal | undefined {
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
