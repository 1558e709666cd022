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
