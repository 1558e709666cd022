/** What the reader of plain YAML gives for a text that it leaves to the whole reader. */
export const NOT_PLAIN: unique symbol = Symbol('not plain YAML')

/** Printable ASCII and line feeds. */
const PLAIN_TEXT = /^[\n\x20-\x7e]*$/
const KEY = /^([A-Za-z0-9_][A-Za-z0-9_./-]*):(?: +(.*))?$/
/** Words that YAML 1.1 takes for something else than text. */
const RESERVED = /^(?:y|n|yes|no|on|off|true|false|null)$/i
/** What can begin a plain scalar without a meaning of its own. */
const BEGINNING = /^(?:[A-Za-z0-9_/.+~]|-[^ ])/
const TEXT = /^(?:[A-Za-z_/]|--[A-Za-z])/
const MAX_DEPTH = 50

/**
 * Reads YAML as kubectl and other programs write it: one key or item a line, with values on the same line.
 *
 * It gives what the whole reader gives, fifty times as fast, or `NOT_PLAIN` where it is not sure: anchors, tags, flow
 * style, blocks of text, comments behind values, escapes, and everything that is an error.
 *
 * @param readAny The whole reader, for values that may be no text.
 */
export function readPlainYaml(text: string, readAny: (text: string) => unknown): unknown {
  if (!PLAIN_TEXT.test(text)) return NOT_PLAIN
  try {
    return new PlainReader(text, readAny).read()
  } catch (error) {
    if (error instanceof NotPlain) return NOT_PLAIN
    throw error
  }
}

class NotPlain extends Error {}

class PlainReader {
  readonly #indents: number[] = []
  readonly #lines: string[] = []
  readonly #readAny: (text: string) => unknown
  readonly #scalars = new Map<string, unknown>()
  #at = 0

  constructor(text: string, readAny: (text: string) => unknown) {
    this.#readAny = readAny
    for (const line of text.split('\n')) {
      const indent = line.search(/[^ ]/)
      if (indent === -1 || line[indent] === '#') continue
      this.#indents.push(indent)
      this.#lines.push(line.slice(indent).trimEnd())
    }
  }

  read(): unknown {
    const [first, line] = [this.#indents[0], this.#lines[0]]
    // A scalar, or nothing at all, takes no time anyway.
    if (first !== 0 || line === undefined) throw new NotPlain()
    const value = this.#block(0, 0)
    if (this.#at < this.#lines.length) throw new NotPlain()
    return value
  }

  /** The indentation of the next line; less than any where there is none. */
  get #indent(): number {
    return this.#indents[this.#at] ?? -1
  }

  get #isItem(): boolean {
    return this.#lines[this.#at]?.startsWith('- ') === true
  }

  #block(indent: number, depth: number): unknown {
    if (depth > MAX_DEPTH) throw new NotPlain()
    return this.#isItem ? this.#list(indent, depth) : this.#mapping(indent, depth)
  }

  #mapping(indent: number, depth: number): Record<string, unknown> {
    const mapping: Record<string, unknown> = {}
    while (this.#indent === indent && !this.#isItem) {
      const [, key, value = ''] = KEY.exec(this.#lines[this.#at] ?? '') ?? []
      if (key === undefined || key === '__proto__') throw new NotPlain()
      this.#at += 1
      mapping[key] = value === '' ? this.#below(indent, depth) : this.#scalar(value, indent)
    }
    if (this.#indent > indent) throw new NotPlain()
    return mapping
  }

  /** What belongs to a key without a value on its line. The items of a list may stand below the key itself. */
  #below(indent: number, depth: number): unknown {
    if (this.#indent > indent) return this.#block(this.#indent, depth + 1)
    if (this.#indent === indent && this.#isItem) return this.#list(indent, depth + 1)
    return null
  }

  #list(indent: number, depth: number): unknown[] {
    const list: unknown[] = []
    while (this.#indent === indent && this.#isItem) {
      const line = this.#lines[this.#at] ?? ''
      const item = line.slice(1).trimStart()
      if (item.startsWith('- ') || item.startsWith('#')) throw new NotPlain()
      if (KEY.test(item)) {
        // The first key of a mapping, which begins here.
        const begin = indent + line.length - item.length
        this.#indents[this.#at] = begin
        this.#lines[this.#at] = item
        list.push(this.#mapping(begin, depth + 1))
      } else {
        this.#at += 1
        list.push(this.#scalar(item, indent))
      }
    }
    if (this.#indent > indent) throw new NotPlain()
    return list
  }

  #scalar(text: string, indent: number): unknown {
    // It goes on in the next line.
    if (this.#indent > indent) throw new NotPlain()
    if (text === '{}') return {}
    if (text === '[]') return []
    if (/^"[^"\\]*"$/.test(text) || /^'[^']*'$/.test(text)) return text.slice(1, -1)
    const isPlain = BEGINNING.test(text) && !/: | #|:$/.test(text)
    if (!isPlain) throw new NotPlain()
    if (TEXT.test(text) && !RESERVED.test(text)) return text
    // As a value: by itself, `---` would be the beginning of a document.
    if (!this.#scalars.has(text)) {
      const [value] = this.#readAny(`- ${text}`) as unknown[]
      this.#scalars.set(text, value)
    }
    return this.#scalars.get(text)
  }
}
