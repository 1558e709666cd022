/**
 * Encodes plain data as JSON, with `bigint` values as numbers.
 *
 * `JSON.stringify` throws for `bigint`, but a plugin must receive the integers of a kubeconfig with every digit.
 */
export function encodeJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return `[${value.map(encodeJson).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => `${JSON.stringify(name)}:${encodeJson(member)}`)
    return `{${members.join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}

/** Text is not valid JSON. The message has the position, and never a part of the text. */
export class JsonError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'JsonError'
  }
}

/**
 * Parses JSON into plain data, with integers beyond 2^53 as `bigint`: the counterpart of `encodeJson`.
 *
 * @throws {JsonError} With the position; the text may contain secrets and is not quoted.
 */
export function parseJson(text: string): unknown {
  const parsed = parse(text)
  if (!/\d{16}/.test(text)) return parsed
  try {
    return parseWithBigInts(text, parsed)
  } catch (error) {
    // Unlike the first pass, the second one is limited by the size of the stack.
    if (error instanceof RangeError) throw new JsonError('nested too deep')
    throw error
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new JsonError(describeSyntaxError((error as Error).message, text.length))
  }
}

/** Node's message may quote the text, which may be secret, so only the position is kept. */
function describeSyntaxError(message: string, length: number): string {
  const position = /^(?!Unexpected token).* at position (\d+)/.exec(message)?.[1]
  if (message.startsWith('Unexpected end') || Number(position) >= length) {
    return `unexpected end of JSON input after ${length} characters`
  }
  return position === undefined
    ? `syntax error in ${length} characters of JSON`
    : `syntax error at position ${position} of ${length}`
}

/** Used on valid JSON only, where every quotation mark is closed. */
const STRING_OR_NUMBER = /"(?:[^"\\]+|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** Node 20 cannot return the source of a number, so long integers pass through the parser as marked strings. */
function parseWithBigInts(text: string, parsed: unknown): unknown {
  const mark = unusedMark(parsed)
  const marked = text.replace(STRING_OR_NUMBER, (piece) =>
    /^-?\d{16,}$/.test(piece) && !Number.isSafeInteger(Number(piece)) ? `"${mark}${piece}"` : piece,
  )
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  )
}

/** Returns a prefix that no string in the data contains. The data is searched decoded, since escapes can spell anything. */
function unusedMark(parsed: unknown): string {
  const text = JSON.stringify(parsed)
  let mark = 'integer:'
  while (text.includes(mark)) mark = `x${mark}`
  return mark
}
