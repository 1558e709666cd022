import { connect } from 'kubecred'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { type ClientNode, CONFIG_MAPS, codesOf, Stage } from './stage.ts'

/** How long the tests run. */
const RUN_MS = inject('isLong') ? 60_000 : 12_000

/** The server ends every watch after two seconds, as a real one does after some minutes. */
const SHORT_WATCHES = `${CONFIG_MAPS}?timeoutSeconds=2`

/** Tests informers as programs use them, through everything that can happen to a credential. */
export function describeInformers(client: ClientNode): void {
  /** Starts an informer that restarts after every error, as in client-node's examples. */
  function startInformer({ api, kc }: Stage, pauseMs: number) {
    const informer = client.makeInformer(kc, SHORT_WATCHES, () =>
      api.listNamespacedConfigMap({ namespace: 'default' }),
    )
    const seen: string[] = []
    const errors: unknown[] = []
    let isStopped = false
    informer.on('add', ({ metadata }) => seen.push(`add ${metadata?.name}`))
    informer.on('update', ({ metadata, data }) =>
      seen.push(`update ${metadata?.name} ${data?.['value']}`),
    )
    informer.on('delete', ({ metadata }) => seen.push(`delete ${metadata?.name}`))
    informer.on('error', (error: unknown) => {
      errors.push(error)
      setTimeout(() => isStopped || informer.start(), pauseMs)
    })
    void informer.start()
    return {
      informer,
      seen,
      errors,
      // Before its KubeConfig is restored: after that, client-node authenticates it.
      async [Symbol.asyncDispose]() {
        isStopped = true
        await informer.stop()
      },
    }
  }

  /** Unhandled rejections: the first would end a program without a listener. */
  function watchRejections(): unknown[] {
    const caught: unknown[] = []
    const note = (reason: unknown): void => void caught.push(reason)
    process.on('unhandledRejection', note)
    onTestFinished(() => void process.off('unhandledRejection', note))
    return caught
  }

  /** Creates, changes and deletes objects with its own credential until stopped. Returns what it did. */
  async function startWriter({ sandbox }: Stage) {
    const { token } = sandbox.issueToken({ user: 'writer' })
    const cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { token } }) })
    const truth: string[] = []
    let isOver = false
    const send = async (method: string, path: string, body?: object): Promise<void> => {
      const isPatch = method === 'PATCH'
      const type = isPatch ? 'application/merge-patch+json' : 'application/json'
      for (;;) {
        const answer = await cluster
          .fetch(path, {
            method,
            headers: { 'content-type': type },
            ...(body && { body: JSON.stringify(body) }),
          })
          .catch(() => undefined)
        await answer?.arrayBuffer().catch(() => {})
        // The server is restarting; a change that had arrived is not repeated.
        if (answer !== undefined) return
      }
    }
    const work = (async () => {
      for (let count = 0; !isOver; count += 1) {
        const name = `object-${count}`
        await send('POST', CONFIG_MAPS, { metadata: { name } })
        await send('PATCH', `${CONFIG_MAPS}/${name}`, { data: { value: 'new' } })
        truth.push(`add ${name}`, `update ${name} new`)
        if (count % 2 === 0) {
          await send('DELETE', `${CONFIG_MAPS}/${name}`)
          truth.push(`delete ${name}`)
        }
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    })()
    const stop = async (): Promise<readonly string[]> => {
      isOver = true
      await work
      await cluster.close()
      return truth
    }
    return { stop }
  }

  const pause = (milliseconds: number) =>
    new Promise((resolve) => setTimeout(resolve, milliseconds))
  const watches = ({ sandbox }: Stage) =>
    sandbox.requests.filter(({ path, status }) => path.includes('watch=') && status === 200)
  const lists = ({ sandbox }: Stage) =>
    sandbox.requests.filter(
      ({ path, user }) =>
        path.startsWith(CONFIG_MAPS) && !path.includes('watch=') && user === 'jane',
    )

  describe('an informer', () => {
    it('D21, D22: loses no event while tokens expire, the plugin fails and the server restarts', {
      timeout: RUN_MS + 60_000,
    }, async () => {
      const rejections = watchRejections()
      const plugin = { user: 'jane', lifetimeMs: 3000, exitCode: 0, stderr: '' }
      await using stage = await Stage.withPlugin(client, {}, { plugin })
      await using started = startInformer(stage, 100)
      const { informer, seen, errors } = started
      await expect.poll(() => watches(stage), { timeout: 10_000 }).not.toEqual([])
      const writer = await startWriter(stage)
      const [failAt, restartAt] = [RUN_MS * 0.25, RUN_MS * 0.65]
      await pause(failAt)
      // Longer than the lifetime of a token, so that for some time there is none.
      Object.assign(plugin, { exitCode: 1, stderr: 'out of order\n' })
      await expect.poll(() => errors.length, { timeout: 15_000 }).toBeGreaterThan(0)
      expect(codesOf(errors[0])).toContain('ERR_PLUGIN_EXITED')
      Object.assign(plugin, { exitCode: 0, stderr: '' })
      await pause(restartAt - failAt)
      await stage.sandbox.restart({ downMs: 500 })
      await pause(RUN_MS - restartAt)
      const truth = await writer.stop()
      await expect.poll(() => missing(truth, seen), { timeout: 20_000 }).toEqual([])
      const held = informer.list().map(({ metadata }) => metadata?.name)
      expect(held.sort()).toEqual(survivors(truth))
      expect(rejections).toEqual([])
      expect(lists(stage).length).toBeLessThanOrEqual(2)
      expect(stage.sandbox.pluginRuns).toBeGreaterThan(RUN_MS / 3000)
    })

    it('whose plugin needs a person waits between tries, and recovers', async () => {
      const rejections = watchRejections()
      const plugin = { user: 'jane', lifetimeMs: 1000, exitCode: 0, stderr: '' }
      const policy = { backoffFirstMs: 400, backoffLimitMs: 800 }
      await using stage = await Stage.withPlugin(client, {}, { plugin, attach: { policy } })
      await using started = startInformer(stage, 20)
      const { seen, errors } = started
      await stage.createConfigMap('first')
      await expect.poll(() => seen).toContain('add first')
      Object.assign(plugin, { exitCode: 1, stderr: 'Log in at https://login.example first\n' })
      await expect.poll(() => errors.length, { timeout: 15_000 }).toBeGreaterThan(0)
      stage.sandbox.resetPluginRuns()
      const from = errors.length
      await expect.poll(() => errors.length - from, { timeout: 15_000 }).toBeGreaterThan(50)
      // The informer tried fifty times, but the plugin ran only a few times.
      expect(stage.sandbox.pluginRuns).toBeLessThan(10)
      Object.assign(plugin, { exitCode: 0, stderr: '' })
      await expect
        .poll(
          () =>
            stage.createConfigMap('second').then(
              () => true,
              () => false,
            ),
          {
            timeout: 10_000,
          },
        )
        .toBe(true)
      await expect.poll(() => seen, { timeout: 10_000 }).toContain('add second')
      expect(rejections).toEqual([])
    })

    it('whose plugin always needs a terminal gets an error without a plugin run', async () => {
      const rejections = watchRejections()
      await using stage = await Stage.open(client, {
        attach: { stdinUnavailable: 'the informer has it' },
        kubeconfig: async (sandbox) => ({
          user: {
            exec: { ...(await sandbox.plugin({ user: 'jane' })), interactiveMode: 'Always' },
          },
        }),
      })
      await using started = startInformer(stage, 20)
      const { errors } = started
      await expect.poll(() => errors.length, { timeout: 10_000 }).toBeGreaterThan(10)
      for (const error of errors) expect(codesOf(error)).toContain('ERR_PLUGIN_NEEDS_TERMINAL')
      expect(stage.sandbox.pluginRuns).toBe(0)
      expect(rejections).toEqual([])
    })

    it('keeps its watch through every rotation of its certificate', {
      timeout: RUN_MS + 60_000,
    }, async () => {
      await using stage = await Stage.withPlugin(client, {
        credential: 'certificate',
        lifetimeMs: 3000,
      })
      const seen: string[] = []
      const ends: unknown[] = []
      const watch = await new client.Watch(stage.kc).watch(
        CONFIG_MAPS,
        {},
        (type, object) => seen.push(`${type} ${object.metadata.name}`),
        (error) => ends.push(error),
      )
      const made: string[] = []
      const end = Date.now() + RUN_MS
      while (Date.now() < end) {
        await stage.createConfigMap(`object-${made.length}`)
        made.push(`ADDED object-${made.length}`)
        await pause(100)
      }
      await expect.poll(() => seen).toEqual(made)
      expect(ends).toEqual([])
      expect(stage.sandbox.pluginRuns).toBeGreaterThan(2)
      const refused = stage.sandbox.requests.filter(({ status }) => status === 401)
      expect(refused).toEqual([])
      watch.abort()
    })
  })
}

/** Events that were expected and not seen. */
function missing(truth: readonly string[], seen: readonly string[]): readonly string[] {
  const known = new Set(seen)
  return truth.filter((event) => !known.has(event))
}

function survivors(truth: readonly string[]): readonly string[] {
  const deleted = new Set(truth.filter((e) => e.startsWith('delete')).map((e) => e.split(' ')[1]))
  const added = truth.filter((e) => e.startsWith('add')).map((e) => e.split(' ')[1] ?? '')
  return added.filter((name) => !deleted.has(name)).sort()
}
