// Finds programs from npm that embed @kubernetes/client-node; installs them into the cache the first time.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withBuildLock } from './build-lock.mjs'
import { cacheFolder } from './folders.mjs'
import { NPM_PROGRAMS } from './programs.mjs'
import { run } from './run-command.mjs'

const MANIFEST = JSON.stringify({ private: true, dependencies: NPM_PROGRAMS })
const DIGEST = createHash('sha256').update(MANIFEST).digest('hex').slice(0, 12)
const FOLDER = join(cacheFolder(), `npm-programs-${DIGEST}`)
/** Marks that all packages are complete. */
const MARK = join(FOLDER, '.whole')

/** Returns the folder in which they are installed. @param {(line: string) => void} report Reports progress. */
export function findNpmPrograms(report) {
  const onWait = (holder) => report(`waiting for process ${holder}, which installs npm programs`)
  if (existsSync(MARK)) return FOLDER
  return withBuildLock(join(cacheFolder(), 'npm-programs.lock'), { onWait }, async () => {
    if (existsSync(MARK)) return FOLDER
    report('installing programs with client-node from npm: about a minute, 350 MB, once')
    rmSync(FOLDER, { recursive: true, force: true })
    mkdirSync(FOLDER, { recursive: true })
    writeFileSync(join(FOLDER, 'package.json'), MANIFEST)
    const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    await run('npm', ['install', '--prefix', FOLDER, ...quietly])
    writeFileSync(MARK, '')
    return FOLDER
  })
}
