import { CODES, type Code, type CodeFacts } from 'kubecred/errors'
import type { Run } from '../command.ts'
import { EXIT } from '../exit-status.ts'
import { didYouMean } from '../flags/did-you-mean.ts'
import { wantsJson } from '../flags/wants-json.ts'
import { withFlagNames } from '../render/with-flag-names.ts'
import { UsageError } from '../usage-error.ts'

const FAULTS: Readonly<Record<CodeFacts['fault'], string>> = {
  kubeconfig: 'the kubeconfig, or a file it names',
  plugin: 'the credential plugin',
  policy: 'the plugin policy',
  server: 'the server',
  network: 'the network, or time',
  caller: 'the program or person that asked',
  system: 'this machine',
}

/** `explain [CODE]`: says in words what an error code means and whether trying again can help. */
export const explain: Run = async ({ args: [typed], flags, io }) => {
  const isJson = wantsJson(flags)
  if (typed === undefined) {
    io.stdout.write(isJson ? `${JSON.stringify(allCodes().map(asObject))}\n` : table())
    return EXIT.done
  }
  const code = findCode(typed)
  io.stdout.write(isJson ? `${JSON.stringify(asObject(code))}\n` : describe(code))
  return EXIT.done
}

/** `hasOwn`, not `in`: every object has a `toString`. */
function findCode(typed: string): Code {
  const byExit = allCodes().find((code) => String(CODES[code].exit) === typed)
  if (byExit !== undefined) return byExit
  const name = typed.toUpperCase().replaceAll('-', '_')
  const full = name.startsWith('ERR_') ? name : `ERR_${name}`
  if (isCode(full)) return full
  const what = /^\d+$/.test(typed) ? 'exit status' : 'code'
  throw new UsageError(
    `unknown ${what} ${JSON.stringify(typed)}${didYouMean(full, allCodes())}`,
    'explain',
  )
}

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
  const { means, fault, retryable, remedy, exit } = asObject(code)
  return [
    code,
    '',
    `  means   ${means}`,
    `  fault   ${FAULTS[fault]}`,
    `  again   ${retryable ? 'may pass if tried again' : 'needs a change by hand'}`,
    `  remedy  ${remedy}`,
    `  exit    ${exit}`,
    '',
  ].join('\n')
}

function table(): string {
  const width = Math.max(...allCodes().map((code) => code.length))
  const rows = allCodes().map(
    (code) => `${CODES[code].exit}    ${code.padEnd(width)}  ${CODES[code].means}`,
  )
  return `${[`EXIT  ${'CODE'.padEnd(width)}  MEANS`, ...rows].join('\n')}\n`
}
