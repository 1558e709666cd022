import fc from 'fast-check'
import { anyPlace, type Mutation, mutation } from '../../packages/core/test/tls/mutations.ts'

/** Longer inputs find nothing more, and take longer. */
const MAX_BYTES = 16 * 1024
const MAX_CHANGES = 6

/** Texts that confuse parsers of every kind. */
const WORDS = [
  ...['__proto__', 'constructor', 'toString', '\u0000', '\r\n', '\n', '\t', '\u2028', '\ufeff'],
  ...[
    '{',
    '}',
    '[',
    ']',
    '"',
    "'",
    '\\',
    ':',
    ': ',
    ', ',
    '#',
    '%',
    '%2f',
    '../',
    '\u00e9',
    '\u{1f600}',
    '\\n',
    '\\u0000',
    '\\u001b[2J',
  ],
  ...[
    'null',
    'true',
    '~',
    '-1',
    '0',
    '1e999',
    '.nan',
    '99999999999999999999',
    '1970-01-01T00:00:00Z',
  ],
]

/** Inputs that are made from a corpus by a few changes. They are made smaller by leaving out changes. */
export function changedInput(
  corpus: readonly Buffer[],
  words: readonly string[] = [],
): fc.Arbitrary<Buffer> {
  const place = anyPlace()
  const one = fc.constantFrom(...corpus)
  const word = fc.constantFrom(...WORDS, ...words).map((text) => Buffer.from(text))
  const change = fc.oneof(
    { arbitrary: mutation(), weight: 3 },
    { arbitrary: fc.tuple(place, word).map(([at, text]) => insert(at, text)), weight: 3 },
    {
      arbitrary: fc.tuple(place, place, one).map(([at, from, other]) => join(at, from, other)),
      weight: 1,
    },
    { arbitrary: fc.tuple(place, place).map(([at, to]) => moveLine(at, to)), weight: 2 },
    { arbitrary: fc.tuple(place, word).map(([at, text]) => replaceWord(at, text)), weight: 3 },
  )
  // Mostly one or two, after which the input is often still almost valid.
  const changes = fc.oneof(
    { arbitrary: fc.array(change, { minLength: 1, maxLength: 2 }), weight: 3 },
    { arbitrary: fc.array(change, { maxLength: MAX_CHANGES }), weight: 1 },
  )
  return fc.tuple(one, changes).map(([start, made]) => made.reduce(apply, start))
}

function apply(bytes: Buffer, change: Mutation): Buffer {
  return change(bytes).subarray(0, MAX_BYTES)
}

function insert(at: number, more: Buffer): Mutation {
  return (bytes) => {
    const start = Math.floor(at * bytes.length)
    return Buffer.concat([bytes.subarray(0, start), more, bytes.subarray(start)])
  }
}

/** Replaces a run of letters and digits, such as a name, a number or a time. */
function replaceWord(at: number, text: Buffer): Mutation {
  return (bytes) => {
    const found = [...bytes.toString('latin1').matchAll(/[\w.-]+/g)]
    const old = found[Math.floor(at * found.length)]
    if (old === undefined) return bytes
    const end = old.index + old[0].length
    return Buffer.concat([bytes.subarray(0, old.index), text, bytes.subarray(end)])
  }
}

/** Replaces the end by that of another input. */
function join(at: number, from: number, other: Buffer): Mutation {
  return (bytes) =>
    Buffer.concat([
      bytes.subarray(0, Math.floor(at * bytes.length)),
      other.subarray(Math.floor(from * other.length)),
    ])
}

/** Copies a line to another place. */
function moveLine(at: number, to: number): Mutation {
  return (bytes) => {
    const lines = bytes.toString('latin1').split('\n')
    const line = lines[Math.floor(at * lines.length)] ?? ''
    lines.splice(Math.floor(to * lines.length), 0, line)
    return Buffer.from(lines.join('\n'), 'latin1')
  }
}
