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
  type Tags,
  visit,
} from 'yaml'
import { nestingDepth } from './nesting-depth.ts'

/** A text that is not YAML: where and why, never with a piece of the text itself. */
export class YamlError extends Error {
  readonly line: number | undefined

  constructor(reason: string, line?: number) {
    super(line === undefined ? reason : `${reason} (line ${line})`)
    this.name = 'YamlError'
    this.line = line
  }
}

/** More values than this, counted after aliases are followed, is an attack ("billion laughs"). */
const MOST_VALUES = 100_000
/** Deeper nesting than this is no configuration. */
const MOST_DEPTH = 200
/** Lines and list items: a kubeconfig with a thousand clusters has a tenth of it. */
const MOST_PIECES = 200_000

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
  const document = readDocument(text)
  if (document === undefined) return null
  const targets = findTargets(document)
  const budget = { left: MOST_VALUES }
  const follow = (node: unknown, depth: number): unknown => {
    budget.left -= 1
    if (budget.left < 0) throw new YamlError(`more than ${MOST_VALUES} values, aliases included`)
    if (depth > MOST_DEPTH) throw new YamlError(`nested more than ${MOST_DEPTH} levels deep`)
    if (isAlias(node)) {
      const target = targets.get(node)
      if (target === undefined) throw new YamlError('an alias has no anchor')
      return follow(target, depth + 1)
    }
    if (isSeq(node)) return node.items.map((item) => follow(item, depth + 1))
    if (isMap(node)) return Object.fromEntries(followPairs(node.items, depth, follow))
    return isScalar(node) ? plainScalar(node.value) : null
  }
  return follow(document.contents, 0)
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
  if (countPieces(text) > MOST_PIECES) {
    throw new YamlError(`more than ${MOST_PIECES} lines and list items`)
  }
  if (nestingDepth(text) > MOST_DEPTH) {
    throw new YamlError(`nested more than ${MOST_DEPTH} levels deep`)
  }
}

function countPieces(text: string): number {
  let pieces = 1
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\n' || text[at] === ',') pieces += 1
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

function plainScalar(value: unknown): unknown {
  if (typeof value === 'bigint' && Number.isSafeInteger(Number(value))) return Number(value)
  if (typeof value === 'number' && !Number.isFinite(value)) {
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
