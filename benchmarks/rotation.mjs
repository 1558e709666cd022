// Constant load while 5 s tokens rotate and the plugin takes 1 s: which requests fail or wait for the plugin.
// The control is the same load with a token that does not expire, while the same plugin runs unrelated to it.
import { execFile } from 'node:child_process'
import { startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { isShort } from './measure.mjs'

const LIFE_MS = 5000
const PLUGIN_MS = 1000
// Five recorded runs make up for the shorter load.
const LOAD_MS = isShort ? 10_000 : 60_000
const WORKERS = 8

export const name = `${LOAD_MS / 1000} s of load, tokens of ${LIFE_MS / 1000} s, a plugin that takes ${PLUGIN_MS / 1000} s`

export async function run() {
  const sandbox = await startSandbox()
  const exec = await sandbox.plugin({ user: 'jane', lifetimeMs: LIFE_MS, delayMs: PLUGIN_MS })
  const events = []
  const cluster = await connect({
    kubeconfig: sandbox.writeKubeconfig({ user: { exec } }),
    observer: (event) => events.push(event),
  })
  await (await cluster.fetch('/version')).arrayBuffer()
  const rotating = await load(cluster)
  await cluster.close()
  const reasons = events.filter(({ type }) => type === 'run-started').map(({ reason }) => reason)

  const { token } = sandbox.issueToken({ user: 'jane' })
  const steady = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { token } }) })
  const runPlugin = () =>
    execFile(exec.command, exec.args, { env: { ...process.env, ...exec.env } }, () => {})
  const pluginTimer = setInterval(runPlugin, LIFE_MS / 2)
  const control = await load(steady)
  clearInterval(pluginTimer)
  await steady.close()
  await sandbox.close()
  return [
    { what: 'requests', value: rotating.count },
    { what: 'plugin runs', value: reasons.length },
    { what: 'failed requests', value: rotating.failed, target: '0' },
    { what: 'requests that waited for the plugin', value: rotating.stalled, target: '0' },
    {
      what: 'runs that were not ahead of time',
      value: reasons.filter((each) => each !== 'ahead').length,
      target: '1',
    },
    { what: 'p99.9, ms', value: rotating.p999 },
    { what: 'p99.9 of the control, ms', value: control.p999 },
    {
      what: 'p99.9 / control',
      value: Math.round((rotating.p999 / control.p999) * 100) / 100,
      target: '≤ 1.5',
    },
  ]
}

async function load(cluster) {
  const end = performance.now() + LOAD_MS
  const times = []
  let failed = 0
  const worker = async () => {
    while (performance.now() < end) {
      const startedAt = performance.now()
      const response = await cluster.fetch('/version').catch(() => undefined)
      await response?.arrayBuffer()
      if (response?.status !== 200) failed += 1
      times.push(performance.now() - startedAt)
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, worker))
  times.sort((a, b) => a - b)
  const p999 = Math.round((times[Math.floor(times.length * 0.999)] ?? 0) * 10) / 10
  return {
    count: times.length,
    failed,
    p999,
    stalled: times.filter((time) => time >= PLUGIN_MS / 2).length,
  }
}
