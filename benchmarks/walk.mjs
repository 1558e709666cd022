// The walk of a warm request: every file and function of ours that it calls, counted by V8 over many requests.
import { Session } from 'node:inspector/promises'
import { openScene } from './scene.mjs'

const COUNT = 1000

export const name = 'the walk of a warm request'

export async function run() {
  // Uses the compiled files instead of the bundle, because files are counted.
  const { connect } = await import('../packages/core/dist/index.js')
  const { kubeconfig, close } = await openScene()
  const cluster = await connect({ kubeconfig })
  const request = async () => (await cluster.fetch('/x')).json()
  await request()
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  for (let count = 0; count < COUNT; count += 1) await request()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  session.disconnect()
  await cluster.close()
  close()
  const files = result
    .filter(({ url }) => url.includes('/packages/core/dist/'))
    .map(({ url, functions }) => ({
      file: url.replace(/^.*\/dist\//, '').replace(/\.js$/, ''),
      calls: functions
        .map(({ functionName, ranges: [{ count }] }) => ({
          functionName: functionName || '(anonymous)',
          times: Math.round(count / COUNT),
        }))
        .filter(({ times }) => times > 0),
    }))
    .filter(({ calls }) => calls.length > 0)
  const calls = files.flatMap((each) => each.calls).reduce((sum, { times }) => sum + times, 0)
  return [
    { what: 'files', value: files.length, target: 'about 8' },
    { what: 'calls', value: calls },
    ...files.map((each) => ({ what: each.file, value: each.calls.map(shown).join(', ') })),
  ]
}

function shown({ functionName, times }) {
  return times === 1 ? functionName : `${functionName} × ${times}`
}
