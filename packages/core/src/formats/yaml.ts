import {
  type Alias,
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  Parser,
  type Scalar,
  type Tags,
  visit,
} from 'yaml'
import { parseJson } from './json.ts'
import { NOT_PLAIN, readPlainYaml } from './plain-yaml.ts'

/** A text that is not YAML: where and why, never with a piece of the text itself. */
export class YamlError extends Error {
  readonly line: number | undefined

  constructor(reason: string, line?: number) {
    super(line === undefined ? reason : `${reason} (line ${line})`)
    this.name = 'YamlError'
    this.line = line
  }
}

/** More values than this that are reached through aliases are an attack ("billion laughs"). */
const MAX_ALIASED_VALUES = 100_000
/** Deeper nesting than this is no configuration. */
const MOST_DEPTH = 200
/** Lines and list items: a kubeconfig with ten thousand contexts has two thirds of it. They take some seconds. */
const MAX_PIECES = 500_000
/** The same for JSON and for plain YAML, which take a tenth of the time and memory. */
const MAX_PLAIN_PIECES = 2_000_000

/** YAML 1.1 tags that Go's reader does not have: dates stay text, `1:30` is no number. */
const LEFT_OUT = /:(?:timestamp|binary|set|omap|pairs)$/

/**
 * Reads YAML (of which JSON is a part) as Kubernetes does, into plain data.
 *
 * YAML 1.1, because Go's reader takes `yes` and `on` for booleans and `010` for eight. Integers beyond
 * 2^53 come out as `bigint` and keys keep their spelling, so that what is passed on to a plugin stays
 * as it was written. Only the first document counts; of two equal keys the last wins.
 *
 * @throws {YamlError} Names the line and the kind of mistake; the text may hold secrets and is not quoted.
 */
export function parseYaml(text: string): unknown {
  if (countPieces(text) > MAX_PLAIN_PIECES) {
    throw new YamlError(`more than ${MAX_PLAIN_PIECES} lines and list items`)
  }
  const json = readJson(text)
  if (json !== undefined) return json
  const plain = readPlainYaml(text, parseAnyYaml)
  return plain === NOT_PLAIN ? parseAnyYaml(text) : plain
}

/** An exponent with which a number may not be finite. */
const LARGE_EXPONENT = /[eE]\+?\d{3}/

/** An object in JSON, much faster than the YAML reader does it; undefined for everything else. */
function readJson(text: string): unknown {
  if (!/^\s*\{/.test(text) || LARGE_EXPONENT.test(text)) return undefined
  if (jsonDepth(text) > MOST_DEPTH) return undefined
  try {
    return parseJson(text)
  } catch {
    // Flow style begins like that too, and the YAML reader says best what is wrong.
    return undefined
  }
}

function parseAnyYaml(text: string): unknown {
  const document = readDocument(text)
  if (document === undefined) return null
  const targets = findTargets(document)
  const bounds = new Bounds()
  const followAlias = (alias: Alias, depth: number): unknown => {
    const target = targets.get(alias)
    if (target === undefined) throw new YamlError('an alias has no anchor')
    return bounds.throughAlias(() => follow(target, depth + 1))
  }
  const follow = (node: unknown, depth: number): unknown => {
    bounds.check(depth)
    if (isAlias(node)) return followAlias(node, depth)
    if (isSeq(node)) return node.items.map((item) => follow(item, depth + 1))
    if (isMap(node)) return Object.fromEntries(followPairs(node.items, depth, follow))
    return isScalar(node) ? plainScalar(node) : null
  }
  return follow(document.contents, 0)
}

/** Sees to it that a small text does not become a huge value. What stands in the text itself is no danger. */
class Bounds {
  #aliases = 0
  #aliased = 0

  throughAlias(follow: () => unknown): unknown {
    this.#aliases += 1
    const value = follow()
    this.#aliases -= 1
    return value
  }

  check(depth: number): void {
    if (this.#aliases > 0) this.#aliased += 1
    if (this.#aliased > MAX_ALIASED_VALUES) {
      throw new YamlError(`more than ${MAX_ALIASED_VALUES} values through aliases`)
    }
    if (depth > MOST_DEPTH) throw new YamlError(`nested more than ${MOST_DEPTH} levels deep`)
  }
}

/**
 * Reads the first document as a tree that knows where in the text each of its nodes stands.
 *
 * @throws {YamlError}
 */
export function readDocument(text: string): Document.Parsed | undefined {
  refuseHostile(text)
  const lineCounter = new LineCounter()
  const composer = new Composer({
    version: '1.1',
    intAsBigInt: true,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
    customTags: (tags: Tags) =>
      tags.filter(
        (tag) => typeof tag === 'string' || !(LEFT_OUT.test(tag.tag) || tag.format === 'TIME'),
      ),
  })
  const [document] = composer.compose(readTokens(text, lineCounter))
  const [error] = document?.errors ?? []
  if (error !== undefined) {
    throw new YamlError(describeMistake(error.code), lineCounter.linePos(error.pos[0]).line)
  }
  return document
}

/**
 * Looks at the text before the YAML reader does: a wide text costs it minutes, a deep one the process
 * (its regular expressions run out of memory, which no exception can catch).
 */
function refuseHostile(text: string): void {
  if (countPieces(text) > MAX_PIECES) {
    throw new YamlError(`more than ${MAX_PIECES} lines and list items`)
  }
  if (nestingDepth(text) > MOST_DEPTH) {
    throw new YamlError(`nested more than ${MOST_DEPTH} levels deep`)
  }
}

const LINE_FEED = 10
const COMMA = 44

function countPieces(text: string): number {
  let pieces = 1
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === LINE_FEED || code === COMMA) pieces += 1
  }
  return pieces
}

/**
 * Reads the text into tokens and stops where it nests too deep, before anything recurses through them.
 *
 * The estimate made before can be fooled by brackets in quotes; the parser's own stack cannot.
 */
function* readTokens(text: string, lineCounter: LineCounter): Generator<CST.Token> {
  const parser = new Parser(lineCounter.addNewLine)
  lineCounter.addNewLine(0)
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme)
    if (parser.stack.length > MOST_DEPTH + AROUND) {
      throw new YamlError(`nested more than ${MOST_DEPTH} levels deep`)
    }
  }
  yield* parser.end()
}

/** What the parser has on its stack beside the levels of nesting: the document, and a scalar. */
const AROUND = 2

/**
 * Finds what each alias stands for: the last node before it that has its anchor.
 *
 * One walk for all of them. The library's own way walks the whole document for each alias, which
 * takes minutes for a file of a hundred kilobytes.
 */
function findTargets(document: Document.Parsed): ReadonlyMap<Alias, Node> {
  const anchored = new Map<string, Node>()
  const targets = new Map<Alias, Node>()
  visit(document, {
    Alias(_, alias) {
      const target = anchored.get(alias.source)
      if (target !== undefined) targets.set(alias, target)
    },
    Value(_, node) {
      if (node.anchor !== undefined) anchored.set(node.anchor, node)
    },
  })
  return targets
}

type Follow = (node: unknown, depth: number) => unknown

function followPairs(
  pairs: readonly { key: unknown; value: unknown }[],
  depth: number,
  follow: Follow,
): [string, unknown][] {
  const own: [string, unknown][] = []
  const merged: [string, unknown][] = []
  for (const { key, value } of pairs) {
    if (!isMergeKey(key)) own.push([keyName(key), follow(value, depth + 1)])
    else for (const source of asList(follow(value, depth + 1))) merged.unshift(...entriesOf(source))
  }
  return [...merged, ...own]
}

/** In quotes it is a name like any other. */
function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.type === 'PLAIN' && key.source === '<<'
}

function keyName(key: unknown): string {
  if (!isScalar(key)) throw new YamlError('a key is not a plain word')
  if (typeof key.value === 'string') return key.value
  // `on:` and `1:` are names, whatever YAML 1.1 makes of them.
  return key.source ?? String(key.value)
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value]
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}

/** What YAML itself calls infinite, or no number. */
const NOT_FINITE = /^[-+]?\.(?:inf|nan)$/i

/**
 * The value of a scalar.
 *
 * The reader takes `e1` and `.` for numbers that it cannot read, and `12e4567` for an infinite one. Go's reader
 * takes them for text, and people have such names.
 */
function plainScalar({ value, source, tag }: Scalar): unknown {
  if (typeof value === 'bigint' && Number.isSafeInteger(Number(value))) return Number(value)
  if (typeof value === 'number' && !Number.isFinite(value)) {
    if (tag === undefined && source !== undefined && !NOT_FINITE.test(source)) return source
    throw new YamlError('a number is not finite')
  }
  return value ?? null
}

const MISTAKES: Readonly<Record<string, string>> = {
  BAD_INDENT: 'wrong indentation',
  TAB_AS_INDENT: 'a tab where only spaces may stand',
  BLOCK_AS_IMPLICIT_KEY: 'a second colon on one line; quote the value',
  MISSING_CHAR: 'a quote, bracket or colon is missing',
  UNEXPECTED_TOKEN: 'text where none is expected',
  BAD_DQ_ESCAPE: 'an unknown escape in a quoted text',
  MULTILINE_IMPLICIT_KEY: 'a colon is missing after a key',
}

function describeMistake(code: string): string {
  return MISTAKES[code] ?? code.toLowerCase().replaceAll('_', ' ')
}

/**
 * Estimates how deep a YAML text nests, in one pass and without recursion.
 *
 * Brackets count wherever they stand, in text too; each deeper indentation and each dash at the start of
 * a line counts as a level. Closing brackets in quotes and comments at the start of a line make it too low: it
 * spares the parser the plain cases, and the parser's own depth is checked as well.
 */
export function nestingDepth(text: string): number {
  const indents: number[] = []
  let brackets = 0
  let deepest = 0
  for (const line of text.split('\n')) {
    const indent = line.length - line.trimStart().length
    if (indent === line.length) continue
    while ((indents.at(-1) ?? -1) >= indent) indents.pop()
    indents.push(indent)
    const inLine = bracketsIn(line, brackets)
    deepest = Math.max(deepest, indents.length + leadingMarks(line, indent) + inLine.deepest)
    brackets = inLine.open
  }
  return deepest
}

/** Counts the `- `, `? ` and `: ` that stand before any other text. */
function leadingMarks(line: string, start: number): number {
  let marks = 0
  for (let at = start; at < line.length; at += 1) {
    if (isSpace(line[at])) continue
    if (!'-?:'.includes(line.charAt(at)) || !isSpace(line[at + 1])) break
    marks += 1
  }
  return marks
}

function isSpace(character: string | undefined): boolean {
  return character === undefined || /\s/.test(character)
}

function bracketsIn(line: string, before: number): { open: number; deepest: number } {
  let open = before
  let deepest = before
  for (const [bracket] of line.matchAll(/[[\]{}]/g)) {
    open = bracket === '[' || bracket === '{' ? open + 1 : Math.max(0, open - 1)
    deepest = Math.max(deepest, open)
  }
  return { open, deepest }
}

/** How deep a JSON text nests. Exact for JSON; anything for other texts. */
export function jsonDepth(text: string): number {
  let depth = 0
  let deepest = 0
  let isText = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '"') isText = !isText
    else if (isText) at += character === '\\' ? 1 : 0
    else if (character === '{' || character === '[') {
      depth += 1
      deepest = Math.max(deepest, depth)
    } else if (character === '}' || character === ']') depth -= 1
  }
  return deepest
}
