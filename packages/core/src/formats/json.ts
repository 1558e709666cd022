/**
 * Writes plain data as JSON, with integers of any size as numbers.
 *
 * `JSON.stringify` refuses `bigint`; what a kubeconfig holds for a plugin must arrive with every digit.
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

/** A text that is not JSON: where, never with a piece of the text itself. */
export class JsonError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'JsonError'
  }
}

/**
 * Reads JSON into plain data, integers beyond 2^53 as `bigint`: the counterpart of `encodeJson`.
 *
 * @throws {JsonError} Names the position; the text may hold secrets and is not quoted.
 */
export function parseJson(text: string): unknown {
  const parsed = parse(text)
  return /\d{16}/.test(text) ? parseWithIntegers(text, parsed) : parsed
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new JsonError(describeMistake((error as Error).message, text.length))
  }
}

/** Node's own message may quote the text, which is a secret: only the position is kept. */
function describeMistake(message: string, length: number): string {
  const position = /^(?!Unexpected token).* at position (\d+)/.exec(message)?.[1]
  if (message.startsWith('Unexpected end') || Number(position) >= length) {
    return `the text ends too early, after ${length} characters`
  }
  return position === undefined
    ? `unexpected text somewhere in ${length} characters`
    : `unexpected text at character ${position} of ${length}`
}

/** In a text that is known to be JSON, every quote has its other end. */
const STRING_OR_NUMBER = /"(?:[^"\\]+|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** Node 20 cannot ask for the source of a number: long integers go through the parser as marked text. */
function parseWithIntegers(text: string, parsed: unknown): unknown {
  const mark = freeMark(parsed)
  const marked = text.replace(STRING_OR_NUMBER, (piece) =>
    /^-?\d{16,}$/.test(piece) && !Number.isSafeInteger(Number(piece)) ? `"${mark}${piece}"` : piece,
  )
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  )
}

/** Something that stands in no text of the data. Looked for after escapes were read: they can spell anything. */
function freeMark(parsed: unknown): string {
  const spelled = JSON.stringify(parsed)
  let mark = 'integer:'
  while (spelled.includes(mark)) mark = `x${mark}`
  return mark
}
