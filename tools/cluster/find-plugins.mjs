// Finds third-party plugins; builds or installs missing ones into the cache.
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withBuildLock } from './build-lock.mjs'
import { buildOnce } from './find-programs.mjs'
import { builtPath, cacheFolder, isExecutable } from './folders.mjs'
import { AWSCLI, PLUGINS } from './programs.mjs'
import { run } from './run-command.mjs'

/** Plugins by the names of their programs. */
const AWS = 'aws'

/**
 * Returns why a plugin is not available on this machine; undefined if it is installed or can be built.
 *
 * @param {'kubelogin' | 'aws-iam-authenticator' | 'aws'} name
 */
export function whyNoPlugin(name) {
  if (name === AWS) {
    if (existsSync(awsMark()) || works('python3', '-c', 'import venv, ensurepip')) return undefined
    return 'needs Python 3 with venv and pip, to install awscli'
  }
  if (isExecutable(builtPath(pluginOf(name))) || works('go', 'version')) return undefined
  return `needs Go, to build ${name}`
}

/** Returns the path of a plugin. @param {(line: string) => void} report Reports progress. */
export function findPlugin(name, report) {
  return name === AWS ? installAws(report) : buildOnce(pluginOf(name), report)
}

function pluginOf(name) {
  const plugin = PLUGINS.find((each) => each.name === name)
  if (plugin === undefined) throw new Error(`unknown plugin ${name}`)
  return plugin
}

/**
 * Installs awscli into its own virtual environment.
 *
 * A virtual environment contains its path, so it cannot be created elsewhere and moved. A mark file says that it is
 * complete.
 */
function installAws(report) {
  const path = join(awsFolder(), 'bin', AWS)
  const onWait = (holder) => report(`waiting for process ${holder}, which installs awscli`)
  if (existsSync(awsMark())) return path
  return withBuildLock(join(cacheFolder(), 'awscli.lock'), { onWait }, async () => {
    if (existsSync(awsMark())) return path
    report(`installing awscli ${AWSCLI} from PyPI: about a minute, 200 MB, once`)
    rmSync(awsFolder(), { recursive: true, force: true })
    await run('python3', ['-m', 'venv', awsFolder()])
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
    await run(join(awsFolder(), 'bin', 'python3'), [...pip, `awscli==${AWSCLI}`])
    writeFileSync(awsMark(), '')
    report(`installed awscli: ${path}`)
    return path
  })
}

function awsFolder() {
  return join(cacheFolder(), `awscli-${AWSCLI}-${process.platform}-${process.arch}`)
}

function awsMark() {
  return join(awsFolder(), '.whole')
}

function works(command, ...args) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}
