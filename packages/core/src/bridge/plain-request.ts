import type { HeaderValues } from '../exchange/exchange.ts'

/** The head of a plain request: one that is understood without a parser. */
export interface PlainHead {
  readonly method: string
  /** The path as it was written, with its query. */
  readonly path: string
  /** Without those that belong to the connection. A list is a header that occurs more than once. */
  readonly headers: HeaderValues
  /** The size of the head itself, with its blank line. */
  readonly headBytes: number
  /** The size of the body that follows. */
  readonly bodyBytes: number
}

/** Larger heads are left to Node's parser. */
const MAX_HEAD_BYTES = 16 * 1024

const BLANK_LINE = '\r\n\r\n'

/**
 * Reads the head of a request as Node's client writes it; undefined if it is anything but plain.
 *
 * It accepts less than a parser: no spaces around values, no folded lines, no body without a length, no header that
 * has a meaning for the connection. So two programs cannot understand differently what it accepts. Everything else is
 * left to Node's parser.
 *
 * @param bytes What a client has written at once: Node's client does not write a head in parts.
 */
export function readPlainHead(bytes: Buffer): PlainHead | undefined {
  const end = bytes.indexOf(BLANK_LINE, 0, 'latin1')
  if (end === -1 || end > MAX_HEAD_BYTES) return undefined
  const lines = bytes.toString('latin1', 0, end).split('\r\n')
  const start = REQUEST_LINE.exec(lines[0] ?? '')
  const fields = start === null ? undefined : readFields(lines)
  if (start === null || fields === undefined) return undefined
  const [, method = '', path = ''] = start
  return { method, path, headBytes: end + BLANK_LINE.length, ...fields }
}

const REQUEST_LINE = /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) (\/[!-~]*) HTTP\/1\.1$/

/** @param lines The head; its first line is skipped. */
function readFields(
  lines: readonly string[],
): Pick<PlainHead, 'headers' | 'bodyBytes'> | undefined {
  const headers: HeaderValues = {}
  let length: string | undefined
  for (let at = 1; at < lines.length; at += 1) {
    const [, written, value = ''] = FIELD.exec(lines[at] as string) ?? []
    if (written === undefined) return undefined
    const name = written.toLowerCase()
    switch (MEANINGS.get(name)) {
      case undefined:
        add(headers, name, value)
        break
      case 'not plain':
        return undefined
      case 'host':
        // The outgoing request gets its own.
        break
      case 'connection':
        if (value !== 'keep-alive') return undefined
        break
      case 'length':
        if (length !== undefined || !LENGTH.test(value)) return undefined
        length = value
        break
    }
  }
  return { headers, bodyBytes: Number(length ?? 0) }
}

/** A name, and a value without spaces around it. */
const FIELD = /^([!#$%&'*+.^`|~\w-]+): ((?:[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?)$/
const LENGTH = /^\d{1,9}$/

/** Headers that are not simply passed on. */
const MEANINGS = new Map<string, 'host' | 'connection' | 'length' | 'not plain'>([
  ['host', 'host'],
  ['connection', 'connection'],
  ['content-length', 'length'],
  ['transfer-encoding', 'not plain'],
  ['expect', 'not plain'],
  ['upgrade', 'not plain'],
  ['te', 'not plain'],
  ['trailer', 'not plain'],
  ['keep-alive', 'not plain'],
  ['proxy-connection', 'not plain'],
  // Would change the prototype of an object that holds headers.
  ['__proto__', 'not plain'],
])

/** Keeps repeated headers apart: Impersonate-Group would change its meaning if joined. */
function add(headers: HeaderValues, name: string, value: string): void {
  const before = headers[name]
  if (before === undefined) headers[name] = value
  else if (typeof before === 'string') headers[name] = [before, value]
  else before.push(value)
}
