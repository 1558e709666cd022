// Finds the programs of the cluster suite, and builds those that are missing.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { withBuildLock } from './build-lock.mjs'
import { buildProgram } from './build-program.mjs'
import { broughtPath, builtPath, cacheFolder, isExecutable } from './folders.mjs'
import { PROGRAMS } from './programs.mjs'

/**
 * The path of each program by its name.
 *
 * What `KUBEBUILDER_ASSETS` has is taken from there; the rest comes from the cache, where it is built once.
 *
 * @param {(line: string) => void} tell Is told what is built, since when and how far.
 * @throws {Error} When something has to be built and cannot be; it says what to do.
 */
export async function findPrograms(tell) {
  const found = {}
  for (const program of PROGRAMS) {
    found[program.name] = broughtPath(program) ?? (await buildOnce(program, tell))
  }
  return found
}

/** The path of a program in the cache, where it is built unless it is there. */
export async function buildOnce(program, tell) {
  const path = builtPath(program)
  if (isExecutable(path)) return path
  needGo(program)
  const lock = join(cacheFolder(), `${program.name}.lock`)
  const onWait = (holder) => tell(`waiting for process ${holder}, which builds ${program.name}`)
  return withBuildLock(lock, { onWait }, async () => {
    // Whoever held the lock has built it.
    if (isExecutable(path)) return path
    const { name, go, minutes } = program
    tell(
      `building ${name} ${go.version} from ${go.module}: about ${minutes} min on two cores, once`,
    )
    const begun = Date.now()
    await buildProgram(program, tell)
    tell(`built ${name} in ${Math.round((Date.now() - begun) / 1000)} s: ${path}`)
    return path
  })
}

function needGo({ name }) {
  const { status } = spawnSync('go', ['version'], { stdio: 'ignore' })
  if (status === 0) return
  throw new Error(
    `${name} is not here and has to be built, but there is no Go. Install Go 1.26 or newer (https://go.dev/dl), ` +
      `or set KUBEBUILDER_ASSETS to a folder with ${PROGRAMS.map((each) => each.name).join(', ')}.`,
  )
}
