/** What is wrong with a YAML text, and where. Contains no part of the text, which may be a secret. */
export interface YamlMistake {
  readonly reason: string
  readonly line: number
}

/**
 * Finds the first line of a block-style YAML text that does not fit its indentation.
 *
 * A YAML parser reports where it can no longer continue, which is often another line and another cause: a key that is
 * indented too far is, for the parser, a second colon in the line before. This follows the open blocks as a reader does.
 * It is used only for texts that are not valid YAML.
 *
 * @returns Undefined if it finds nothing, or meets syntax that it does not follow.
 */
export function findYamlMistake(text: string): YamlMistake | undefined {
  const lines = text.split(/\r?\n/)
  const blocks = new OpenBlocks()
  let at = 0
  while (at < lines.length) {
    const line = lines[at] ?? ''
    at += 1
    if (/^\s*(?:#.*)?$/.test(line)) continue
    if (/^---(?:\s|$)/.test(line)) {
      if (!blocks.isEmpty) return undefined
      continue
    }
    if (/^(?:%|\.\.\.|\s*[?]\s)/.test(line)) return undefined
    const added = blocks.add(line, at)
    if ('reason' in added) return added
    const end = endOfValue(lines, at, added)
    if (typeof end === 'string') return { reason: end, line: at }
    at = end
  }
  return undefined
}

/** The blocks that are open at a line, from the outermost. A list may have the indentation of the key above it. */
interface Block {
  readonly is: 'map' | 'list'
  readonly indent: number
}

/** The value of a line, and the indentation of its key or dash. */
interface Added {
  readonly value: string
  readonly indent: number
}

class OpenBlocks {
  #open: Block[] = []
  /** Indentation of the last key or dash, and whether it has no value, so that a block may follow. */
  #last = { indent: -1, opens: true }
  /** The last value that is on a line of its own. If a key follows at its indentation, it lacks its colon. */
  #text: (YamlMistake & { readonly indent: number }) | undefined

  get isEmpty(): boolean {
    return this.#open.length === 0
  }

  /** Adds a line that is not blank. A line such as `- name: x` is a list item and a key. */
  add(line: string, number: number): Added | YamlMistake {
    const [space = ''] = /^\s*/.exec(line) ?? []
    if (space.includes('\t'))
      return { reason: 'a tab in the indentation; use spaces', line: number }
    let indent = space.length
    let content = line.slice(indent)
    for (;;) {
      const [dash] = /^-(?:\s+|$)/.exec(content) ?? []
      if (dash === undefined) break
      const mistake = this.#enter('list', indent, number)
      if (mistake !== undefined) return mistake
      this.#last = { indent, opens: true }
      indent += dash.length
      content = content.slice(dash.length)
      if (withoutComment(content) === '') return { value: '', indent: this.#last.indent }
    }
    return this.#addContent(content, indent, number)
  }

  #addContent(content: string, indent: number, number: number): Added | YamlMistake {
    const value = readValue(content)
    if (value === undefined) return this.#addText(content, indent, number)
    const mistake = this.#enter('map', indent, number)
    if (mistake !== undefined) return mistake
    this.#last = { indent, opens: value === '' }
    return { value, indent }
  }

  /** Adds text without a key: a value, the continuation of one, or a key without its colon. */
  #addText(content: string, indent: number, line: number): Added | YamlMistake {
    const reason = describeText(content)
    const { opens, indent: last } = this.#last
    if (indent <= last && !this.isEmpty) return { reason, line }
    if (opens) this.#text = { reason, line, indent }
    this.#last = { indent: last, opens: false }
    return { value: content, indent: last }
  }

  /** Closes the blocks that end before a line, and opens the one that it begins. */
  #enter(is: Block['is'], indent: number, line: number): YamlMistake | undefined {
    const { indent: last, opens } = this.#last
    const text = this.#text
    this.#text = undefined
    if (opens && (indent > last || (is === 'list' && indent === last && this.#top?.is === 'map'))) {
      this.#open.push({ is, indent })
      return undefined
    }
    const closed: Block[] = []
    while (this.#top !== undefined && !this.#isAt(is, indent)) {
      if (this.#top.indent < indent) break
      closed.push(...this.#open.splice(-1))
    }
    if (this.#isAt(is, indent)) return undefined
    if (text?.indent === indent) return { reason: text.reason, line: text.line }
    return { reason: this.#describe(is, indent, closed), line }
  }

  get #top(): Block | undefined {
    return this.#open.at(-1)
  }

  #isAt(is: Block['is'], indent: number): boolean {
    return this.#top?.is === is && this.#top.indent === indent
  }

  #describe(is: Block['is'], indent: number, closed: readonly Block[]): string {
    const around = [...closed, ...[...this.#open].reverse()].filter((block) => block.is === is)
    const deeper = around.findLast((block) => block.indent > indent)
    const outer = around.find((block) => block.indent < indent)
    const fits = [outer, deeper].flatMap((block) => (block === undefined ? [] : [block.indent]))
    if (fits.length === 0) {
      return is === 'list'
        ? 'a list item where a key is expected'
        : 'a key where a list item is expected'
    }
    const what = is === 'list' ? 'a list item at the wrong depth' : 'wrong indentation'
    const found = `${indent} ${indent === 1 ? 'space' : 'spaces'}`
    return `${what}: ${found}, expected ${[...new Set(fits)].join(' or ')}`
  }
}

/** A line where a key is expected, and which has none. */
function describeText(content: string): string {
  if (/^-[^\s-]/.test(content)) return 'a space is missing after the dash'
  if (/^[\w.-]+:(?!\/\/)\S/.test(content)) return 'a space is missing after the colon'
  return 'a colon is missing after a key'
}

const QUOTED_KEY = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s*:(?=\s|$)/
/** Not with a dash in front: that is a list item without its space. */
const PLAIN_KEY = /^[^\s"'[{#-][^#]*?:(?=\s|$)/

/** The value behind the key of a line, without its anchor, tag and comment; undefined if the line has no key. */
function readValue(content: string): string | undefined {
  const [key] = QUOTED_KEY.exec(content) ?? PLAIN_KEY.exec(content) ?? []
  if (key === undefined) return undefined
  const value = content.slice(key.length).trim()
  const bare = value.replace(/^(?:[&!]\S*(?:\s+|$))+/, '')
  return /^["'[{]/.test(bare) ? bare : withoutComment(bare)
}

function withoutComment(value: string): string {
  return value.replace(/(?:^|\s)#.*$/, '')
}

/**
 * Returns the line after a value that goes on: a block scalar, a quoted string or a flow collection.
 *
 * @returns What is not closed, if the text ends before the value.
 */
function endOfValue(
  lines: readonly string[],
  from: number,
  { value, indent }: Added,
): number | string {
  if (/^[|>][-+\d]*$/.test(value)) {
    let at = from
    while (at < lines.length && isInside(lines[at] ?? '', indent)) at += 1
    return at
  }
  if (/^["']/.test(value)) return endOfFlow(value, lines, from) ?? 'a quote is not closed'
  if (/^[[{]/.test(value)) return endOfFlow(value, lines, from) ?? 'a bracket is not closed'
  return from
}

function isInside(line: string, indent: number): boolean {
  return line.trim() === '' || line.length - line.trimStart().length > indent
}

/** The line after a value in quotes or brackets; undefined if it is not closed. */
function endOfFlow(value: string, lines: readonly string[], from: number): number | undefined {
  let state: FlowState = { quote: '', depth: 0 }
  let line: string | undefined = value
  for (let at = from; line !== undefined; at += 1) {
    for (const [token] of line.matchAll(/\\.|["'[\]{}]/g)) {
      state = step(state, token)
      // A comment may follow, with quotes of its own.
      if (state.quote === '' && state.depth <= 0) return at
    }
    line = lines[at]
  }
  return undefined
}

/** The open quote, if any, and the number of open brackets. */
interface FlowState {
  readonly quote: string
  readonly depth: number
}

function step(state: FlowState, token: string): FlowState {
  const { quote, depth } = state
  // A backslash escapes only between double quotes.
  if (quote === "'" && token === "\\'") return { quote: '', depth }
  if (quote !== '') return token === quote ? { quote: '', depth } : state
  if (token === '"' || token === "'") return { quote: token, depth }
  if (token === '[' || token === '{') return { quote, depth: depth + 1 }
  if (token === ']' || token === '}') return { quote, depth: depth - 1 }
  return state
}
