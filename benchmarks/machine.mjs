// The machine, the commit and the versions of a recorded run. Neither paths nor names of hosts or users.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { cpus, release, totalmem, type } from 'node:os'

const { resolve } = createRequire(import.meta.url)
const root = new URL('../', import.meta.url)

/** Describes this machine and the programs that are compared on it. */
export function describeMachine() {
  return {
    cpu: cpus()[0]?.model.replace(/\s+/g, ' ') ?? 'unknown',
    cores: cpus().length,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    kernel: `${type()} ${release()}`,
    node: process.version,
    undici: versionOf('undici'),
    'client-node': versionOf('@kubernetes/client-node'),
    'client-go': clientGoVersion(),
    go: said('go', 'env', 'GOVERSION') ?? 'not installed',
    kubectl: kubectlVersion(),
  }
}

/** Returns the commit, with a mark if files were changed since. */
export function describeCommit() {
  const commit = said('git', 'rev-parse', '--short=7', 'HEAD')
  if (commit === undefined) return 'unknown'
  const changes = said('git', 'status', '--porcelain', '--untracked-files=no', '--', 'packages')
  return changes === '' ? commit : `${commit} with changes`
}

function versionOf(name) {
  const [path] = [resolve(name)].map((file) => file.slice(0, file.lastIndexOf(`${name}/`)))
  return JSON.parse(readFileSync(`${path}${name}/package.json`, 'utf8')).version
}

function clientGoVersion() {
  const modules = readFileSync(new URL('conformance/client-go/go.mod', root), 'utf8')
  return /k8s\.io\/client-go (v\S+)/.exec(modules)?.[1] ?? 'unknown'
}

function kubectlVersion() {
  const text = said('kubectl', 'version', '--client', '-o', 'json')
  return text === undefined ? 'not installed' : JSON.parse(text).clientVersion.gitVersion
}

function said(command, ...args) {
  const { status, stdout } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}
