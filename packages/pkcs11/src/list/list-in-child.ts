import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import type { Environment } from '../read-stored-pin.ts'
import type { ListedLibrary } from './listed-library.ts'

/** A library that takes longer hangs. */
const LIMIT_MS = 30_000
/** Leaves the user time to enter PINs. */
const LOGIN_LIMIT_MS = 10 * 60_000

/** Lists one library in a child process that runs this program. A failure there becomes the `problem` of the result. */
export async function listInChild(
  library: string,
  { logsIn, environment }: { logsIn: boolean; environment: Environment },
): Promise<ListedLibrary> {
  const program = process.argv[1] ?? ''
  const args = ['list', '--lib', library, '-o', 'json', ...(logsIn ? ['--login'] : [])]
  const child = spawn(process.execPath, [...process.execArgv, program, ...args], {
    stdio: ['inherit', 'pipe', 'pipe'],
    env: environment,
    timeout: logsIn ? LOGIN_LIMIT_MS : LIMIT_MS,
  })
  const [out, err, [status, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null, string | null]>,
  ])
  const problem = describeExit(status, signal, { err, library })
  if (problem !== undefined) return { library, problem, tokens: [] }
  const { libraries } = JSON.parse(out) as { libraries: [ListedLibrary] }
  return libraries[0]
}

function describeExit(
  status: number | null,
  signal: string | null,
  { err, library }: { err: string; library: string },
): string | undefined {
  if (status === 0) return undefined
  if (signal === 'SIGTERM') return 'the library did not respond in time'
  if (signal !== null) return `the library crashed (${signal})`
  // Libraries write to standard error too; the program's own line begins with its name.
  const [, message] = /^kubecred-pkcs11: (.*)$/m.exec(err) ?? []
  return (message ?? `the library ended the process with status ${status}`).replace(
    ` ${library}`,
    '',
  )
}
