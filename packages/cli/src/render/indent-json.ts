import type { Palette } from './colour.ts'
import { printableJson } from './printable.ts'

/** A key with its colon, a string, a bracket or comma, or a number or literal. */
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\],]|[^\s{}[\],:"]+/g

/**
 * Indents JSON by two spaces a level, with colours.
 *
 * It works on the text: parsing and printing would round large numbers. Control characters that JSON allows in strings
 * are escaped, so that none reaches the terminal.
 *
 * @returns Undefined if the text is not JSON.
 */
export function indentJson(text: string, palette: Palette): string | undefined {
  if (!isJson(text)) return undefined
  let out = ''
  let depth = 0
  let last = ''
  const newLine = (): string => `\n${'  '.repeat(depth)}`
  for (const [token, string, colon] of text.matchAll(TOKEN)) {
    const closes = token === '}' || token === ']'
    if (closes) depth -= 1
    if (closes ? !opens(last) : opens(last) || last === ',') out += newLine()
    out += string === undefined ? paintBare(token, palette) : paintString(string, colon, palette)
    if (opens(token)) depth += 1
    last = token
  }
  return `${out}\n`
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function opens(token: string): boolean {
  return token === '{' || token === '['
}

function paintString(string: string, colon: string | undefined, { blue, green }: Palette): string {
  const safe = printableJson(string)
  return colon === undefined ? green(safe) : `${blue(safe)}: `
}

function paintBare(token: string, { yellow }: Palette): string {
  return /^[{}[\],]$/.test(token) ? token : yellow(token)
}
