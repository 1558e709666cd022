import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, type Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { describe, expect, it } from 'vitest'
import { type ClientNode, CONFIG_MAPS, Stage } from './stage.ts'

/** Tests every kind of request of client-node, with a good and with a revoked token. */
export function describeRequests(client: ClientNode): void {
  describe.each(['with a good token', 'after a 401'] as const)('%s', (when) => {
    const runs = when === 'after a 401' ? 2 : 1

    /** Opens a stage with objects to work on, whose next request uses the token under test. */
    async function open(): Promise<Stage> {
      const stage = await Stage.withPlugin(client)
      await stage.makePod('web')
      await stage.createConfigMap('old')
      if (when === 'after a 401') stage.sandbox.revoke('jane')
      return stage
    }

    const place = { namespace: 'default', name: 'old' }
    const bodyOf = (value: string) => ({ metadata: { name: 'old' }, data: { value } })
    const merge = client.setHeaderOptions?.('Content-Type', client.PatchStrategy.MergePatch)
    const CALLS: Readonly<Record<string, (stage: Stage) => Promise<unknown>>> = {
      list: ({ api }) => api.listNamespacedConfigMap({ namespace: 'default' }),
      read: ({ api }) => api.readNamespacedConfigMap(place),
      create: (stage) => stage.createConfigMap('new'),
      replace: ({ api }) => api.replaceNamespacedConfigMap({ ...place, body: bodyOf('b') }),
      ...(merge && {
        patch: ({ api }) => api.patchNamespacedConfigMap({ ...place, body: bodyOf('c') }, merge),
      }),
      delete: ({ api }) => api.deleteNamespacedConfigMap(place),
      'an object by its kind': ({ kc }) =>
        client.KubernetesObjectApi.makeApiClient(kc).read({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: place,
        }),
    }
    it.each(Object.keys(CALLS))('generated API: %s', async (name) => {
      await using stage = await open()
      const before = stage.sandbox.requests.length
      expect(await CALLS[name]?.(stage)).toBeDefined()
      expect(stage.sandbox.pluginRuns).toBe(runs)
      const sent = stage.sandbox.requests.slice(before)
      expect(sent.filter(({ status }) => status === 401)).toHaveLength(runs - 1)
      expect(sent.at(-1)?.status).toBeLessThan(300)
    })

    it('Watch', async () => {
      await using stage = await open()
      const seen: string[] = []
      const watch = await new client.Watch(stage.kc).watch(
        CONFIG_MAPS,
        {},
        (type, object) => seen.push(`${type} ${object.metadata.name}`),
        () => {},
      )
      await stage.createConfigMap('new')
      await expect.poll(() => seen).toContain('ADDED new')
      expect(stage.sandbox.pluginRuns).toBe(runs)
      watch.abort()
    })

    it('ListWatch, as an informer', async () => {
      await using stage = await open()
      const { api, kc } = stage
      const informer = client.makeInformer(kc, CONFIG_MAPS, () =>
        api.listNamespacedConfigMap({ namespace: 'default' }),
      )
      const seen: (string | undefined)[] = []
      informer.on('add', ({ metadata }) => seen.push(metadata?.name))
      await informer.start()
      await stage.createConfigMap('new')
      await expect.poll(() => seen).toEqual(['old', 'new'])
      expect(stage.sandbox.pluginRuns).toBe(runs)
      await informer.stop()
    })

    it('Log, followed', async () => {
      await using stage = await open()
      stage.sandbox.log('default', 'web', 'first')
      const output = new PassThrough()
      const log = new client.Log(stage.kc)
      await log.log('default', 'web', 'main', output, { follow: true })
      expect(await untilText(output, 'first')).toContain('first')
      stage.sandbox.log('default', 'web', 'second')
      expect(await untilText(output, 'second')).toContain('second')
      expect(stage.sandbox.pluginRuns).toBe(runs)
      // Not aborted: in 2.0 that causes an exception that cannot be caught.
      await stage.api.deleteNamespacedPod({ namespace: 'default', name: 'web' })
      await finished(output.resume())
    })

    it('Exec', async () => {
      await using stage = await open()
      const output = new PassThrough()
      const exec = new client.Exec(stage.kc)
      const status = new Promise((resolve) => {
        void exec.exec('default', 'web', 'main', ['whoami'], output, null, null, false, resolve)
      })
      expect(await status).toMatchObject({ status: 'Success' })
      expect(await untilText(output, 'jane')).toBe('jane')
      expectUpgrade(stage, '/exec?')
    })

    it('Attach', async () => {
      await using stage = await open()
      const [input, output] = [new PassThrough(), new PassThrough()]
      const socket = await new client.Attach(stage.kc).attach(
        'default',
        'web',
        'main',
        output,
        null,
        input,
        false,
      )
      input.write('hello')
      expect(await untilText(output, 'hello')).toBe('hello')
      expectUpgrade(stage, '/attach?')
      socket.close()
    })

    it('PortForward', async () => {
      await using stage = await open()
      const [input, output] = [new PassThrough(), new PassThrough()]
      const forward = new client.PortForward(stage.kc)
      await forward.portForward('default', 'web', [80], output, null, input)
      input.write('hello')
      expect(await untilText(output, 'hello')).toBe('hello')
      expectUpgrade(stage, '/portforward?')
      input.end()
    })

    it('Cp', async () => {
      await using stage = await open()
      const folder = join(stage.sandbox.folder, 'from')
      mkdirSync(folder)
      writeFileSync(join(folder, 'greeting'), 'hello from here')
      await new client.Cp(stage.kc).cpToPod('default', 'web', 'main', folder, '/tmp')
      // It returns before it is done, so the test waits for what arrives.
      await expect.poll(() => unpack(stage)).toContain('hello from here')
      expectUpgrade(stage, 'command=xf')
    })

    /** What the pod received. */
    async function unpack({ kc }: Stage): Promise<string> {
      const output = new PassThrough().setEncoding('latin1')
      const command = ['tar', 'cf', '-']
      await new client.Exec(kc).exec('default', 'web', 'main', command, output, null, null, false)
      return (await output.toArray()).join('')
    }

    function expectUpgrade({ sandbox }: Stage, path: string): void {
      const upgrades = sandbox.requests.filter((request) => request.path.includes(path))
      expect(upgrades.map(({ status }) => status)).toEqual(runs === 2 ? [401, 101] : [101])
      expect(sandbox.pluginRuns).toBe(runs)
    }
  })
}

/** Reads until the text has arrived. */
async function untilText(stream: Readable, wanted: string): Promise<string> {
  let text = ''
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    text += String(chunk)
    if (text.includes(wanted)) break
  }
  return text
}
