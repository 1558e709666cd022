// Reads types and doc comments from TypeScript sources as text: TypeScript 7 has no interface for programs.
// It understands what our formatter writes, not all of the language.
import { readFileSync } from 'node:fs'

const CORE = new URL('../packages/core/src/', import.meta.url)

/** Reads a source file of the library. */
export function readSource(path) {
  return readFileSync(new URL(path, CORE), 'utf8')
}

/** Returns the text of an interface, type or constant behind its name, and its doc comment. */
export function readDeclaration(source, name) {
  const head = new RegExp(
    `(/\\*\\*(?:(?!\\*/)[\\s\\S])*\\*/\\n)?export (?:interface|type|const) ${name}\\b[^={]*(?:=\\s*)?`,
  ).exec(source)
  if (head === null) throw new Error(`no declaration of ${name}`)
  const [first, ...lines] = splitAt(source.slice(head.index + head[0].length), '\n')
  const end = lines.findIndex((line) => !/^\s/.test(line))
  return { ...readComment(head[1]), text: [first, ...lines.slice(0, end)].join('\n') }
}

/**
 * Returns the members of an object type, or of all alternatives of a union, each as
 * `{ name, type, isOptional, meaning, defaultValue, isExperimental }`.
 */
export function readMembers(text) {
  const members = new Map()
  for (const part of splitAt(text, '|')) {
    const body = part.slice(part.indexOf('{') + 1, part.lastIndexOf('}'))
    for (const member of readBody(body)) {
      const earlier = members.get(member.name)
      members.set(member.name, earlier === undefined ? member : merge(earlier, member))
    }
  }
  return [...members.values()]
}

/** Cuts text at separators that are outside of brackets, comments and strings. */
export function splitAt(text, separators) {
  const parts = ['']
  let depth = 0
  for (const [token] of text.matchAll(/\/\*[\s\S]*?\*\/|\/\/.*|'[^'\n]*'|=>|[\s\S]/g)) {
    if ('([{<'.includes(token)) depth += 1
    if (')]}>'.includes(token)) depth -= 1
    if (depth === 0 && separators.includes(token)) parts.push('')
    else parts[parts.length - 1] += token
  }
  return parts
}

function readBody(body) {
  // A union may continue on further lines, with comments in between.
  const joined = body.replace(/(?:\s*\/\*\*(?:(?!\*\/)[\s\S])*\*\/)?\n\s*(?=\|)/g, ' ')
  const members = splitAt(joined, ';\n,')
  const found = []
  let comment = ''
  for (const text of members.map((each) => each.trim())) {
    const [, name, mark, type] = /^(?:readonly )?(\w+|'[^']+')(\??):\s*([\s\S]*)$/.exec(text) ?? []
    if (text.startsWith('/**')) comment = text
    if (name === undefined) continue
    found.push({
      name: name.replaceAll("'", ''),
      isOptional: mark === '?',
      type: plainType(type),
      ...readComment(comment),
    })
    comment = ''
  }
  return found
}

/** Leaves out what does not help a reader: `undefined` where `?` says it, and `readonly`. */
function plainType(type) {
  return type
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\breadonly /g, '')
    .replace(/^\s*\|/, '')
    .replace(/\s+/g, ' ')
    .trim()
}

function readComment(comment = '') {
  const text = comment
    .replace(/^\/\*\*|\*\/\s*$/g, '')
    .replace(/^\s*\* ?/gm, '')
    .trim()
  const [meaning, ...tags] = text.split(/^@/m)
  const tag = (name) => tags.find((each) => each.startsWith(name))?.slice(name.length)
  return {
    meaning: meaning.replace(/\s+/g, ' ').trim(),
    defaultValue: tag('defaultValue')?.replace(/\s+/g, ' ').trim(),
    isExperimental: tag('experimental') !== undefined,
  }
}

function merge(earlier, later) {
  const types = new Set([...splitAt(earlier.type, '|'), ...splitAt(later.type, '|')].map(trim))
  return { ...earlier, type: [...types].join(' | '), meaning: earlier.meaning || later.meaning }
}

function trim(text) {
  return text.trim()
}
