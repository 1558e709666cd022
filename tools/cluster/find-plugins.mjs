// Finds the plugins nobody here wrote, and builds or installs those that are missing, once, into the cache.
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withBuildLock } from './build-lock.mjs'
import { buildOnce } from './find-programs.mjs'
import { builtPath, cacheFolder, isExecutable } from './folders.mjs'
import { AWSCLI, PLUGINS } from './programs.mjs'
import { run } from './run-command.mjs'

/** A plugin is known to people by the name of its program. */
const AWS = 'aws'

/**
 * Why there can be no such plugin on this machine; undefined when it is here or can be made.
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

/** The path of a plugin. @param {(line: string) => void} tell Is told what is made, and how far it is. */
export function findPlugin(name, tell) {
  return name === AWS ? installAws(tell) : buildOnce(pluginOf(name), tell)
}

function pluginOf(name) {
  const plugin = PLUGINS.find((each) => each.name === name)
  if (plugin === undefined) throw new Error(`there is no plugin ${name}`)
  return plugin
}

/**
 * Installs awscli into an environment of its own.
 *
 * Such an environment knows its own path, so it cannot be made elsewhere and moved. A mark says that it is whole.
 */
function installAws(tell) {
  const path = join(awsFolder(), 'bin', AWS)
  const onWait = (holder) => tell(`waiting for process ${holder}, which installs awscli`)
  if (existsSync(awsMark())) return path
  return withBuildLock(join(cacheFolder(), 'awscli.lock'), { onWait }, async () => {
    if (existsSync(awsMark())) return path
    tell(`installing awscli ${AWSCLI} from PyPI: about a minute, 200 MB, once`)
    rmSync(awsFolder(), { recursive: true, force: true })
    await run('python3', ['-m', 'venv', awsFolder()])
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
    await run(join(awsFolder(), 'bin', 'python3'), [...pip, `awscli==${AWSCLI}`])
    writeFileSync(awsMark(), '')
    tell(`installed awscli: ${path}`)
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
