import { CODES, type Code, type CodeFacts } from 'kubecred/errors'
import type { Run } from '../command.ts'
import { EXIT } from '../exit-status.ts'
import { wantsJson } from '../flags/wants-json.ts'
import { withFlagNames } from '../render/with-flag-names.ts'
import { UsageError } from '../usage-error.ts'

const FAULTS: Readonly<Record<CodeFacts['fault'], string>> = {
  kubeconfig: 'the kubeconfig, or a file that it refers to',
  plugin: 'the credential plugin',
  policy: 'the plugin policy',
  server: 'the server',
  network: 'the network, or a time limit',
  caller: 'the calling program or user',
  system: 'this machine',
}

/** `explain [CODE|GROUP]`: describes an error code, or lists the codes of a group. */
export const explain: Run = async ({ args: [typed], flags, io }) => {
  const isJson = wantsJson(flags)
  const found = typed === undefined ? allCodes() : findCodes(typed)
  const write = (value: object, text: string): void =>
    void io.stdout.write(isJson ? `${JSON.stringify(value)}\n` : text)
  if (typeof found === 'string') write(asObject(found), describe(found))
  else write(found.map(asObject), table(found))
  return EXIT.done
}

/** Returns one code, or all codes of a group such as `plugin`. */
function findCodes(typed: string): Code | Code[] {
  const byExit = allCodes().find((code) => String(CODES[code].exit) === typed)
  if (byExit !== undefined) return byExit
  const name = typed.toUpperCase().replaceAll('-', '_')
  const full = name.startsWith('ERR_') ? name : `ERR_${name}`
  if (isCode(full)) return full
  const group = allCodes().filter((code) => code.startsWith(`${full.replace(/_$/, '')}_`))
  if (group.length > 0) return group
  const what = /^\d+$/.test(typed) ? 'exit status' : 'code or group'
  const mistyped = { typed: full, names: allCodes() }
  throw new UsageError(`unknown ${what} ${JSON.stringify(typed)}`, 'explain', mistyped)
}

/** `hasOwn`, not `in`: every object has a `toString`. */
function isCode(name: string): name is Code {
  return Object.hasOwn(CODES, name)
}

function allCodes(): Code[] {
  return Object.keys(CODES).filter(isCode)
}

function asObject(code: Code): { code: Code } & CodeFacts {
  return { code, ...CODES[code], remedy: withFlagNames(CODES[code].remedy) }
}

function describe(code: Code): string {
  const { meaning, fault, retryable, remedy, exit } = asObject(code)
  return [
    code,
    '',
    `  meaning:      ${meaning}`,
    `  caused by:    ${FAULTS[fault]}`,
    `  retryable:    ${retryable ? 'yes' : 'no'}`,
    `  remedy:       ${remedy}`,
    `  exit status:  ${exit}`,
    '',
  ].join('\n')
}

function table(codes: readonly Code[]): string {
  const width = Math.max(...codes.map((code) => code.length))
  const rows = codes.map(
    (code) => `${CODES[code].exit}    ${code.padEnd(width)}  ${CODES[code].meaning}`,
  )
  return `${[`EXIT  ${'CODE'.padEnd(width)}  MEANING`, ...rows].join('\n')}\n`
}
