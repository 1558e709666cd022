import { type PluginRunFacts, PluginSilentError, PluginSyntaxError } from '../errors/index.ts'
import { parseYaml, YamlError } from './yaml.ts'

export type Fields = Readonly<Record<string, unknown>>

interface Origin {
  readonly command: string
  readonly facts?: PluginRunFacts
}

/**
 * Reads the bytes a plugin printed as one object, JSON or YAML.
 *
 * What begins with `{` is JSON and must be whole; anything else is tried as YAML, as client-go does.
 *
 * @throws {PluginSilentError | PluginSyntaxError} Neither quotes the output.
 */
export function parsePluginOutput(stdout: Uint8Array, origin: Origin): Fields {
  return parseAnswer(decodeText(stdout, origin), origin)
}

const ONLY_THE_ANSWER =
  'Make the plugin print only the ExecCredential to standard output, and everything else to standard error.'

function decodeText(stdout: Uint8Array, { command, facts }: Origin): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(stdout).trim()
  } catch {
    throw new PluginSyntaxError(command, 'printed bytes that are not UTF-8', {
      ...facts,
      hint: 'Make the plugin print UTF-8; check its locale, or the encoding of its cached answer.',
    })
  }
}

function parseAnswer(text: string, { command, facts }: Origin): Fields {
  if (text === '') {
    throw new PluginSilentError(command, 'ended with status 0 but printed nothing', facts)
  }
  const isJson = text.startsWith('{')
  const parsed = isJson ? parseJson(text) : parseYamlAnswer(text)
  if (parsed instanceof Error) {
    const format = isJson ? 'incomplete or broken JSON' : 'neither JSON nor YAML'
    throw new PluginSyntaxError(command, `printed ${format}: ${parsed.message}`, {
      ...facts,
      hint: ONLY_THE_ANSWER,
    })
  }
  if (!isFields(parsed)) {
    throw new PluginSyntaxError(command, `printed ${nameType(parsed)} where an object belongs`, {
      ...facts,
      hint: ONLY_THE_ANSWER,
    })
  }
  return parsed
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    return new Error(describeMistake((error as Error).message, text.length))
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

function parseYamlAnswer(text: string): unknown {
  try {
    return parseYaml(text)
  } catch (error) {
    return error instanceof YamlError ? error : new Error('the text cannot be parsed')
  }
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Names the type of a value for an error, never the value. */
export function nameType(value: unknown): string {
  if (value === null) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  return `a ${typeof value === 'bigint' ? 'number' : typeof value}`
}
