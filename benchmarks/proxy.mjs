// Requests per second through our proxy and through `kubectl proxy`, alternating in one run: 32 workers, plain HTTP to the
// proxy, TLS to the server. Client, proxy and server are processes of their own. `kubectl` is the one of PATH.
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Pool } from 'undici'
import { compareRates, ratio } from './measure.mjs'
import { openScene } from './scene.mjs'

export const name = 'a request through the proxy'

const WORKERS = 32
const SECRET = 'benchmark-0123456789'

export async function run() {
  const { kubeconfig, close } = await openScene()
  const ours = fork(new URL('proxy-serve.mjs', import.meta.url), [kubeconfig, SECRET])
  const [{ url }] = await once(ours, 'message')
  const kubectl = await startKubectl(kubeconfig)
  const agent = { 'user-agent': 'benchmark/1.0.0' }
  const clients = {
    kubecred: getFrom(url, { ...agent, authorization: `Bearer ${SECRET}` }),
    // kubectl would forward an Authorization header instead of its own.
    ...(kubectl && { kubectl: getFrom(kubectl.url, agent) }),
  }
  const [rate, kubectlRate] = await compareRates(clients, { workers: WORKERS }).finally(() => {
    ours.disconnect()
    kubectl?.child.kill()
    close()
  })
  return [
    { what: 'kubecred proxy, requests per second', value: Math.round(rate) },
    ...(kubectl
      ? [
          { what: 'kubectl proxy, requests per second', value: Math.round(kubectlRate) },
          { what: 'kubecred / kubectl', value: ratio(rate, kubectlRate), target: '≥ 2' },
        ]
      : [{ what: 'kubectl proxy', value: 'no kubectl' }]),
  ]
}

/** Starts kubectl proxy and returns its address, which it prints first; undefined if kubectl is not installed. */
async function startKubectl(kubeconfig) {
  const child = spawn('kubectl', ['--kubeconfig', kubeconfig, 'proxy', '--port=0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })
  const said = await Promise.race([
    once(lines, 'line').then(([line]) => line),
    once(child, 'error').then(() => undefined),
  ])
  if (said === undefined) return undefined
  return { child, url: `http://${/\d+\.\d+\.\d+\.\d+:\d+/.exec(said)[0]}` }
}

function getFrom(url, headers) {
  const pool = new Pool(url, { connections: WORKERS })
  return async () => {
    const path = '/api/v1/namespaces'
    const { statusCode, body } = await pool.request({ path, headers, method: 'GET' })
    await body.arrayBuffer()
    return statusCode
  }
}
