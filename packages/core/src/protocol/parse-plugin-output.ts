import { type PluginRunFacts, PluginSilentError, PluginSyntaxError } from '../errors/index.ts'
import { JsonError, parseJson } from './parse-json.ts'
import { type Fields, isFields, nameType } from './plain-object.ts'
import { parseYaml, YamlError } from './yaml.ts'

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
  const parsed = parse(text, isJson)
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

/** Mistakes come back as errors that do not quote the text. */
function parse(text: string, isJson: boolean): unknown {
  try {
    return isJson ? parseJson(text) : parseYaml(text)
  } catch (error) {
    const isSafe = error instanceof YamlError || error instanceof JsonError
    return isSafe ? error : new Error('the text cannot be parsed')
  }
}
