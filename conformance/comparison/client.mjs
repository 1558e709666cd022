// The clients that are compared, each a program of its own that follows the orders of clients/follow-orders.mjs.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { findNewerNode } from '../../tools/newer-node.mjs'

const inTree = (path) => fileURLToPath(new URL(path, import.meta.url))

/** The clients by their id: how each is started and its version. `folder` is for what has to be built. */
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
      // kubecred has no informers: it is attached to client-node 1, which has.
      informer: [old, clientNode, '@kubernetes/client-node', 'attach'],
      version: npmVersion('kubecred'),
      runtime: `Node ${process.versions.node}`,
    },
  }
}

/** A client while it runs. */
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
    // Not `close`: a plugin that hangs may hold the standard error of client-go.
    this.#ended = once(this.#child, 'exit')
  }

  /** Whether the program still runs. */
  get isAlive() {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** The error that ended the program, as far as it wrote one. */
  get lastError() {
    return /^\w*Error.*$/m.exec(this.#stderr)?.[0] ?? ''
  }

  /** The memory that the program has in use, in MiB. */
  get memory() {
    try {
      const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8')
      return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
    } catch {
      return 0
    }
  }

  /** One order, one answer; `{ ended: true }` if the program ends instead. */
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

/** Built where the modules of conformance/client-go are known. */
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
