import { startSandbox } from '@kubecred/sandbox'
import { CoreV1Api, KubeConfig, Watch } from '@kubernetes/client-node'
import { attach } from 'kubecred/client-node'
import { codesOf } from '../../packages/core/test/transports/codes-of.ts'
import { RUNTIME } from './here.ts'
import { describe, expect, it } from './node-test.ts'

const NAMESPACE = 'default'
const CONFIG_MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`

describe('attach()', () => {
  it('gives generated APIs a new token after a refusal', async () => {
    await using sandbox = await startSandbox()
    const exec = await sandbox.plugin({ user: 'jane' })
    await using attached = attachTo(sandbox.writeKubeconfig({ user: { exec } }))
    const { api } = attached
    expect((await api.listNamespace()).items.length).toBeGreaterThan(0)
    sandbox.revoke('jane')
    const body = { metadata: { name: 'one' }, data: { a: 'b' } }
    await api.createNamespacedConfigMap({ namespace: NAMESPACE, body })
    const read = await api.readNamespacedConfigMap({ namespace: NAMESPACE, name: 'one' })
    expect(read.data).toEqual({ a: 'b' })
    expect(sandbox.pluginRuns).toBe(2)
  })

  it('gives generated APIs our errors', async () => {
    await using sandbox = await startSandbox()
    const exec = await sandbox.plugin({ user: 'jane', exitCode: 3, stderr: 'log in first' })
    await using attached = attachTo(sandbox.writeKubeconfig({ user: { exec } }))
    const error = await attached.api.listNamespace().catch((reason: unknown) => reason)
    expect(codesOf(error)).toContain('ERR_PLUGIN_EXITED')
    expect(sandbox.requests).toEqual([])
  })

  // Its own node-fetch ignores the agent of attach().
  if (RUNTIME === 'Bun') describeRefusals()
  else describeWatch()
})

function describeWatch(): void {
  it('keeps a watch open while the certificate changes', async () => {
    await using sandbox = await startSandbox()
    const exec = await sandbox.plugin({ user: 'jane', credential: 'certificate' })
    await using attached = attachTo(sandbox.writeKubeconfig({ user: { exec } }))
    const { kc, api } = attached
    const names = new Set<string>()
    let wake = (): void => {}
    const watch = await new Watch(kc).watch(
      CONFIG_MAPS,
      {},
      (_type, object: { metadata: { name: string } }) => {
        names.add(object.metadata.name)
        wake()
      },
      () => wake(),
    )
    const sees = async (name: string): Promise<void> => {
      const seen = new Promise<void>((resolve) => {
        wake = resolve
      })
      const body = { metadata: { name } }
      await api.createNamespacedConfigMap({ namespace: NAMESPACE, body })
      await seen
      expect([...names]).toContain(name)
    }
    await sees('one')
    sandbox.revokeCertificates('jane')
    await sees('two')
    expect(sandbox.pluginRuns).toBe(2)
    watch.abort()
  })
}

function describeRefusals(): void {
  it('refuses a watch of client-node before it is sent, and says why', async () => {
    await using sandbox = await startSandbox()
    const exec = await sandbox.plugin({ user: 'jane' })
    await using attached = attachTo(sandbox.writeKubeconfig({ user: { exec } }))
    const error = await new Promise<unknown>((resolve, reject) => {
      new Watch(attached.kc).watch(CONFIG_MAPS, {}, () => {}, resolve).catch(reject)
    })
    expect(codesOf(error)).toEqual(['ERR_NOT_SUPPORTED'])
    expect(sandbox.requests).toEqual([])
  })

  it('refuses an API client that was made before it, and says why', async () => {
    await using sandbox = await startSandbox()
    const exec = await sandbox.plugin({ user: 'jane' })
    await using attached = attachTo(sandbox.writeKubeconfig({ user: { exec } }))
    const error = await attached.early.listNamespace().catch((reason: unknown) => reason)
    expect(codesOf(error)).toEqual(['ERR_NOT_SUPPORTED'])
    expect(sandbox.requests).toEqual([])
  })
}

function attachTo(kubeconfig: string) {
  const kc = new KubeConfig()
  kc.loadFromFile(kubeconfig)
  const early = kc.makeApiClient(CoreV1Api)
  const attachment = attach(kc, { kubeconfig })
  return {
    kc,
    early,
    api: kc.makeApiClient(CoreV1Api),
    [Symbol.asyncDispose]: () => attachment.close(),
  }
}
