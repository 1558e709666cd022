import type { Call } from '../command.ts'
import { UsageError } from '../usage-error.ts'
import { guessContentType } from './guess-content-type.ts'
import { readDataFile } from './read-data-file.ts'

/** A request as the flags of `fetch` describe it. */
export interface RequestDraft {
  readonly path: string
  readonly method: string
  readonly headers: [string, string][]
  readonly body: Uint8Array | undefined
  readonly hasOwnCredential: boolean
}

/** The syntax of a method and of a header name (RFC 9110, token). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/

/**
 * Reads path, method, headers and body from the flags, and the body from a file or standard input if they say so.
 *
 * @throws {UsageError} If a flag is invalid. Nothing has been sent then.
 */
export async function readRequest(call: Call): Promise<RequestDraft> {
  const path = readPath(call.args[0] ?? '')
  const headers = call.flags.list('header').map(readHeader)
  const body = await readBody(call)
  const method = readMethod(call, body !== undefined)
  const has = (name: string): boolean => headers.some(([given]) => given === name)
  const type = body && !has('content-type') ? guessContentType(method, body) : undefined
  if (type !== undefined) headers.push(['content-type', type])
  return { path, method, headers, body, hasOwnCredential: has('authorization') }
}

/** Returns whether the body comes from standard input, which is then not available to a plugin. */
export function readsStdin({ flags }: Call): boolean {
  return flags.list('data')[0] === '@-'
}

function readPath(typed: string): string {
  if (typed.startsWith('/')) return typed
  const url = URL.canParse(typed) ? new URL(typed) : undefined
  const path = url?.host ? url.pathname + url.search : `/${typed}`
  throw new UsageError(
    `PATH must begin with a slash, not ${JSON.stringify(typed)}; did you mean ${path}?`,
  )
}

function readMethod({ flags }: Call, hasBody: boolean): string {
  const method = (flags.text('request') ?? (hasBody ? 'POST' : 'GET')).toUpperCase()
  if (!TOKEN.test(method) || method === 'CONNECT' || method === 'TRACE') {
    throw new UsageError(`flag -X cannot be ${JSON.stringify(method)}`)
  }
  if (hasBody && (method === 'GET' || method === 'HEAD')) {
    throw new UsageError(`a ${method} request cannot have a body: leave out -d or use another -X`)
  }
  return method
}

function readHeader(text: string): [string, string] {
  const [, name, value] = /^([^:]*):\s*(.*?)\s*$/s.exec(text) ?? []
  if (name === undefined || value === undefined || !TOKEN.test(name)) {
    throw new UsageError(`flag -H takes 'Name: value', not ${shorten(text)}`)
  }
  // Characters that HTTP does not allow would fail later with a less clear message.
  if (!/^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value)) {
    throw new UsageError(`the value of header ${name} has characters that HTTP cannot carry`)
  }
  return [name.toLowerCase(), value]
}

/** Shortens a header, because its end may be a secret. */
function shorten(text: string): string {
  return JSON.stringify(text.length > 12 ? `${text.slice(0, 12)}…` : text)
}

async function readBody(call: Call): Promise<Uint8Array | undefined> {
  const { signal } = call
  const [data, another] = call.flags.list('data')
  if (another !== undefined) throw new UsageError('flag -d may be given once')
  if (data === undefined) return undefined
  if (!data.startsWith('@')) return Buffer.from(data)
  if (readsStdin(call)) return call.io.readStdin(signal)
  const file = data.slice(1)
  try {
    return await readDataFile(file, signal)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    const { code, message } = error as NodeJS.ErrnoException
    throw new UsageError(
      `cannot read ${JSON.stringify(file)} for -d: ${REASONS[code ?? ''] ?? message}`,
    )
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTSUP: 'it is not a regular file; use -d @- to read from a pipe',
}
