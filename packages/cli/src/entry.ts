import { writeSync } from 'node:fs'
import process from 'node:process'
import { versionLine } from './commands/version.ts'
import { useCompileCache } from './compile-cache.ts'

/** The commands that `quick.ts` has. `tools/bundle.mjs` sets it. */
declare const QUICK_COMMANDS: readonly string[]

/**
 * Starts the program, and loads only what the command needs.
 *
 * Most of the time of a short command is loading: this is the one file that each of them loads.
 */
export async function start(): Promise<void> {
  const [command, ...rest] = process.argv.slice(2)
  if (rest.length === 0 && isVersion(command) && printVersion()) return
  useCompileCache(process.env)
  const isQuick = QUICK_COMMANDS.includes(command ?? '')
  const { main } = isQuick ? await import('./quick.ts') : await import('./main.ts')
  await main()
}

function isVersion(argument: string | undefined): boolean {
  return argument === 'version' || argument === '--version'
}

/** Returns whether all of it was written; if not, the command itself tries it and explains why. */
function printVersion(): boolean {
  const line = versionLine(process.version)
  try {
    // A stream would take longer to load than everything else here.
    return writeSync(1, line) === line.length
  } catch {
    return false
  }
}
