/** Returned for text that only the full YAML parser can read. */
export const NOT_PLAIN: unique symbol = Symbol('not plain YAML')

/** Printable ASCII and line feeds. */
const PLAIN_TEXT = /^[\n\x20-\x7e]*$/
const KEY = /^([A-Za-z0-9_][A-Za-z0-9_./-]*):(?: +(.*))?$/
/** Words that are not strings in YAML 1.1. */
const RESERVED = /^(?:y|n|yes|no|on|off|true|false|null)$/i
/** A plain scalar that does not start with an indicator. */
const SCALAR_START = /^(?:[A-Za-z0-9_/.+~]|-[^ ])/
/** A plain scalar that cannot be a number. */
const TEXT = /^(?:[A-Za-z_/]|--[A-Za-z])/
const MAX_DEPTH = 50

/**
 * Parses YAML as kubectl and other programs write it: one key or item per line, with scalar values on the same line.
 *
 * It returns the same data as the full parser, fifty times as fast, or `NOT_PLAIN` for anything it does not support:
 * anchors, tags, flow style, block scalars, comments after values, escapes, and all errors.
 *
 * @param parseAny The full parser, for scalars that may not be strings.
 */
export function readPlainYaml(text: string, parseAny: (text: string) => unknown): unknown {
  if (!PLAIN_TEXT.test(text)) return NOT_PLAIN
  try {
    return new PlainParser(text, parseAny).parse()
  } catch (error) {
    if (error instanceof NotPlain) return NOT_PLAIN
    throw error
  }
}

class NotPlain extends Error {}

class PlainParser {
  readonly #indents: number[] = []
  readonly #lines: string[] = []
  readonly #parseAny: (text: string) => unknown
  readonly #scalars = new Map<string, unknown>()
  #at = 0

  constructor(text: string, parseAny: (text: string) => unknown) {
    this.#parseAny = parseAny
    for (const line of text.split('\n')) {
      const indent = line.search(/[^ ]/)
      if (indent === -1 || line[indent] === '#') continue
      this.#indents.push(indent)
      this.#lines.push(line.slice(indent).trimEnd())
    }
  }

  parse(): unknown {
    const [first, line] = [this.#indents[0], this.#lines[0]]
    // The full parser reads a single scalar, or an empty document, fast enough.
    if (first !== 0 || line === undefined) throw new NotPlain()
    const value = this.#block(0, 0)
    if (this.#at < this.#lines.length) throw new NotPlain()
    return value
  }

  /** The indentation of the next line; -1 at the end. */
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

  /** Parses the value of a key that has none on its line. The items of a list may have the indentation of the key. */
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
        // A mapping starts here, with this key as its first.
        const start = indent + line.length - item.length
        this.#indents[this.#at] = start
        this.#lines[this.#at] = item
        list.push(this.#mapping(start, depth + 1))
      } else {
        this.#at += 1
        list.push(this.#scalar(item, indent))
      }
    }
    if (this.#indent > indent) throw new NotPlain()
    return list
  }

  #scalar(text: string, indent: number): unknown {
    // The scalar continues on the next line.
    if (this.#indent > indent) throw new NotPlain()
    if (text === '{}') return {}
    if (text === '[]') return []
    if (/^"[^"\\]*"$/.test(text) || /^'[^']*'$/.test(text)) return text.slice(1, -1)
    const isPlain = SCALAR_START.test(text) && !/: | #|:$/.test(text)
    if (!isPlain) throw new NotPlain()
    if (TEXT.test(text) && !RESERVED.test(text)) return text
    // Parsed as a list item: by itself, `---` would start a document.
    if (!this.#scalars.has(text)) {
      const [value] = this.#parseAny(`- ${text}`) as unknown[]
      this.#scalars.set(text, value)
    }
    return this.#scalars.get(text)
  }
}
