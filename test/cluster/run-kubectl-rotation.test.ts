import { connect } from 'kubecred'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { ended } from '../../packages/cli/test/run/home.ts'
import { TestCluster } from './harness/test-cluster.ts'
import { until } from './harness/until.ts'
import { type Kubectl, newest, newestWithSpdy } from './run/kubectls.ts'
import { RunScene } from './run/run-scene.ts'

const cluster = new TestCluster(inject('cluster'))
const { programs } = cluster.facts
const kubectls = [newest(programs), newestWithSpdy(programs)]
/** Long enough for a slow start, and shorter than the server's token cache. */
const SHORT_MS = 8000
let scene: RunScene

beforeAll(async () => {
  scene = await RunScene.open(cluster)
})
afterAll(async () => {
  await scene[Symbol.asyncDispose]()
})

/** The server caches a valid token for ten seconds. */
async function untilRefused(token: string): Promise<void> {
  const ours = await connect({ kubeconfig: cluster.kubeconfig({ user: { token } }) })
  await until(async () => {
    const { status, body } = await ours.fetch('/api/v1/namespaces?limit=1')
    await body?.cancel()
    return status === 401
  })
  await ours.close()
}

const SCRIPT = `
kubectl logs -f web & logs=$!
kubectl exec -i web -- sh -c 'while read x && [ "$x" != end ]; do echo "heard $x"; done'
kubectl get pods -o name
kill $logs
`

async function outliveToken(kubectl: Kubectl): Promise<void> {
  const user = cluster.unique('short')
  const first = cluster.token({ user, lifetimeMs: SHORT_MS })
  const plugin = cluster.plugin().answerOnce(1, first).answer(cluster.token({ user }))
  const kubeconfig = scene.kubeconfig({ exec: plugin.exec })
  const running = scene.start({ kubectl, kubeconfig }, ['sh', '-c', SCRIPT])
  const log = async (word: string): Promise<void> => {
    const line = cluster.unique(word)
    cluster.log(line)
    await running.until('out', new RegExp(line))
  }
  running.child.stdin?.write('first\n')
  await running.until('out', /heard first/)
  await log('before')
  await untilRefused(first.token)
  running.child.stdin?.write('second\n')
  await running.until('out', /heard second/)
  await log('after')
  // From now on requests need a valid token.
  running.child.stdin?.write('end\n')
  await running.until('out', /^pod\/web$/m)
  await ended(running)
  expect(running.err).toBe('')
  expect(plugin.runs).toBe(2)
}

/** Makes the upgrade the first request, so that it is the refused one. */
const UPGRADE = {
  get: `-H 'Upgrade: websocket' -H 'Sec-WebSocket-Version: 13' -H 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==' \
    -H 'Sec-WebSocket-Protocol: v5.channel.k8s.io'`,
  create: `-X POST -H 'Upgrade: SPDY/3.1' -H 'X-Stream-Protocol-Version: v4.channel.k8s.io'`,
}

async function recover(kubectl: Kubectl): Promise<void> {
  const user = cluster.unique('refused')
  const plugin = cluster.plugin().answerOnce(1, { token: 'unknown.test.token' })
  plugin.answer(cluster.token({ user }))
  const kubeconfig = scene.kubeconfig({ exec: plugin.exec })
  const path = `/api/v1/namespaces/${scene.namespace}/pods/web/exec?command=true&stdout=true`
  const curl = `curl -sS -v -o /dev/null --http1.1 --max-time 20 --cacert "$KUBECRED_CA" -H "@$KUBECRED_HEADER" -H 'Connection: Upgrade'`
  const script = `${curl} ${UPGRADE[kubectl.verb]} "$KUBECRED_SERVER${path}"`
  const running = scene.start({ kubectl, kubeconfig }, ['sh', '-c', script])
  await running.until('err', /^< HTTP\/1.1 101 /m)
  running.child.kill('SIGTERM')
  await ended(running)
  expect(plugin.runs).toBe(2)
  await until(() => scene.noted('exec', user).codes.has(101))
}

describe.concurrent('in kubecred run, with a plugin,', () => {
  it.each(kubectls)(
    'a log and a command continue after their token has expired: $name',
    outliveToken,
  )
  it.each(kubectls)('a refused upgrade is retried: $name', recover)

  it('kubectl does not notice that its first request was refused', async () => {
    const user = cluster.unique('refused')
    const plugin = cluster.plugin().answerOnce(1, { token: 'unknown.test.token' })
    plugin.answer(cluster.token({ user }))
    const runner = {
      kubectl: newest(programs),
      kubeconfig: scene.kubeconfig({ exec: plugin.exec }),
    }
    const ended = await scene.run(runner, ['kubectl', 'exec', 'web', '--', 'echo', 'out'])
    expect(ended).toMatchObject({ status: 0, out: 'out\n', err: '' })
    expect(plugin.runs).toBe(2)
  })
})
