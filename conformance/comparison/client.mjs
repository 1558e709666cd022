// The compared clients, each a program that follows the orders of clients/follow-orders.mjs.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { findNewerNode } from '../../tools/newer-node.mjs'

const inTree = (path) => fileURLToPath(new URL(path, import.meta.url))

/** The clients by id: the command and the version of each. `folder` is for what has to be built. */
export function findClients(folder) {
  const newer = findNewerNode({ mayInstall: true })
  if (newer.problem !== undefined)
    throw new Error(`client-node 2 needs a newer Node: ${newer.problem}`)
  const clientNode = inTree('clients/client-node.mjs')
  const old = process.execPath
  return {
    'client-go': {
      command: [buildClientGo(join(folder, 'client-go'))],
      version: goVersion(),
      runtime: /go\d[\d.]*/.exec(spawnSync('go', ['version'], { encoding: 'utf8' }).stdout)[0],
    },
    'client-node 1': {
      command: [old, clientNode, '@kubernetes/client-node'],
      version: npmVersion('@kubernetes/client-node'),
      runtime: `Node ${process.versions.node}`,
    },
    'client-node 2': {
      command: [newer.path, clientNode, 'client-node-2'],
      version: npmVersion('client-node-2'),
      runtime: `Node ${newer.version}`,
    },
    kubecred: {
      command: [old, inTree('clients/kubecred.mjs')],
      // kubecred has no informers: client-node 1 with attach() is used.
      informer: [old, clientNode, '@kubernetes/client-node', 'attach'],
      version: npmVersion('kubecred'),
      runtime: `Node ${process.versions.node}`,
    },
  }
}

/** A running client. */
export class Client {
  #child
  #lines
  #ended
  #stderr = ''

  constructor([program, ...args], env = {}) {
    this.#child = spawn(program, args, { env: { ...process.env, ...env }, stdio: 'pipe' })
    this.#child.stderr.setEncoding('utf8').on('data', (text) => {
      this.#stderr += text
    })
    this.#child.stdin.on('error', () => {})
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
    // Not `close`: a plugin that hangs may keep client-go's standard error open.
    this.#ended = once(this.#child, 'exit')
  }

  /** Whether the program is running. */
  get isAlive() {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** The error that ended the program, if it printed one. */
  get lastError() {
    return /^\w*Error.*$/m.exec(this.#stderr)?.[0] ?? ''
  }

  /** The resident memory of the program, in MiB. */
  get memory() {
    try {
      const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8')
      return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
    } catch {
      return 0
    }
  }

  /** Sends an order and returns its answer; `{ ended: true }` if the program exits instead. */
  async do(order, details = {}) {
    this.#child.stdin.write(`${JSON.stringify({ do: order, ...details })}\n`)
    const { value, done } = await this.#lines.next()
    if (!done) return JSON.parse(value)
    await this.#ended
    return { ended: true }
  }

  async end() {
    this.#child.kill('SIGKILL')
    await this.#ended
  }
}

/** Built in conformance/client-go, whose go.mod has the modules. */
function buildClientGo(path) {
  const source = inTree('clients/client-go/main.go')
  const { status, stderr, error } = spawnSync('go', ['build', '-o', path, source], {
    cwd: inTree('../client-go'),
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`go could not build ${source}: ${error?.message ?? stderr}`)
  return path
}

function goVersion() {
  const text = readFileSync(inTree('../client-go/go.mod'), 'utf8')
  return /k8s.io\/client-go v(\S+)/.exec(text)[1]
}

function npmVersion(name) {
  const path = inTree(`../../node_modules/${name}/package.json`)
  return JSON.parse(readFileSync(path, 'utf8')).version
}
