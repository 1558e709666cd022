// client-go as a client of `compareClients`, in a process of its own. It is built in conformance/client-go, whose go.mod
// has the modules.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const inTree = (path) => fileURLToPath(new URL(path, import.meta.url))

/** Builds client-go. Returns undefined without Go. */
export function buildClientGo() {
  if (spawnSync('go', ['version']).status !== 0) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-bench-'))
  const path = join(folder, 'client-go')
  const { status, stderr } = spawnSync('go', ['build', '-o', path, inTree('main.go')], {
    cwd: inTree('../../conformance/client-go'),
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`go could not build benchmarks/client-go: ${stderr}`)
  const running = []
  return {
    /**
     * Starts it.
     *
     * @param {string} path The path to request.
     * @param {'any' | 'http1'} protocol As it comes, which is HTTP/2 if the server offers it; or held to HTTP/1.1.
     */
    start(kubeconfig, requestPath, protocol) {
      const one = startProcess(path, kubeconfig, requestPath, protocol)
      running.push(one)
      return one
    },
    close() {
      for (const one of running) one.end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function startProcess(program, kubeconfig, path, protocol) {
  const child = spawn(program, [kubeconfig, protocol], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async load(milliseconds, workers) {
      child.stdin.write(`${path} ${workers} ${milliseconds}\n`)
      const { value, done } = await lines.next()
      if (done) throw new Error('client-go has ended')
      const { requests, seconds, cpu } = JSON.parse(value)
      return { rate: requests / seconds, cost: (cpu / requests) * 1e6 }
    },
    end: () => child.stdin.end(),
  }
}
