// Finds the programs of the cluster suite, and builds those that are missing.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { withBuildLock } from './build-lock.mjs'
import { buildProgram } from './build-program.mjs'
import { broughtPath, builtPath, cacheFolder, isExecutable } from './folders.mjs'
import { PROGRAMS } from './programs.mjs'

/**
 * Returns the path of each program by name.
 *
 * Programs in `KUBEBUILDER_ASSETS` are used from there; the others come from the cache, where they are built once.
 *
 * @param {(line: string) => void} report Reports progress.
 * @throws {Error} A program must be built but cannot be; the message says what to do.
 */
export async function findPrograms(report) {
  const found = {}
  for (const program of PROGRAMS) {
    found[program.name] = broughtPath(program) ?? (await buildOnce(program, report))
  }
  return found
}

/** Returns the path of a program in the cache, and builds it first if it is missing. */
export async function buildOnce(program, report) {
  const path = builtPath(program)
  if (isExecutable(path)) return path
  needGo(program)
  const lock = join(cacheFolder(), `${program.name}.lock`)
  const onWait = (holder) => report(`waiting for process ${holder}, which builds ${program.name}`)
  return withBuildLock(lock, { onWait }, async () => {
    // The process that held the lock has built it.
    if (isExecutable(path)) return path
    const { name, go, minutes } = program
    report(
      `building ${name} ${go.version} from ${go.module}: about ${minutes} min on two cores, once`,
    )
    const begun = Date.now()
    await buildProgram(program, report)
    report(`built ${name} in ${Math.round((Date.now() - begun) / 1000)} s: ${path}`)
    return path
  })
}

function needGo({ name }) {
  const { status } = spawnSync('go', ['version'], { stdio: 'ignore' })
  if (status === 0) return
  throw new Error(
    `${name} must be built, but Go is not installed. Install Go 1.26 or newer (https://go.dev/dl), ` +
      `or set KUBEBUILDER_ASSETS to a folder with ${PROGRAMS.map((each) => each.name).join(', ')}.`,
  )
}
