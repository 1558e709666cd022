import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CredentialEvent } from 'kubecred'
import { attach } from 'kubecred/client-node'
import { describe, expect, it } from 'vitest'
import { answerOf, type ClientNode, messagesOf, Stage } from './stage.ts'

/** Defects of client-node's plugins that `attach` fixes; the numbers are those of docs/client-node.md. */
export function describePluginDefects(client: ClientNode): void {
  const quick = { policy: { backoffFirstMs: 20, backoffLimitMs: 20 } }

  describe('one run for all', () => {
    it('D1: a hundred requests at once, cold, run the plugin once', async () => {
      await using stage = await Stage.withPlugin(client, { delayMs: 100 })
      await stage.listAtOnce(100)
      expect(stage.sandbox.pluginRuns).toBe(1)
    })

    it('D2: a refused token is replaced and the request sent again, for all at once', async () => {
      await using stage = await Stage.withPlugin(client)
      await stage.whoAmI()
      stage.sandbox.revoke('jane')
      await stage.listAtOnce(100)
      expect(stage.sandbox.pluginRuns).toBe(2)
    })

    it('D7: a hundred requests in turn share a few connections', async () => {
      await using stage = await Stage.withPlugin(client)
      for (let count = 0; count < 100; count += 1) await stage.api.listNamespace()
      expect(stage.sandbox.connections.opened).toBeLessThanOrEqual(2)
    })

    it('D17: another command under the same user name is another plugin', async () => {
      await using stage = await Stage.withPlugin(client, { lifetimeMs: 60_000 })
      expect(await stage.whoAmI()).toBe('jane')
      const exec = await stage.sandbox.plugin({ user: 'john', lifetimeMs: 60_000 })
      stage.kc.loadFromFile(stage.sandbox.writeKubeconfig({ user: { exec } }))
      expect(await stage.whoAmI()).toBe('john')
    })

    it('D18: ten KubeConfig objects of one user share a run', async () => {
      await using stage = await Stage.withPlugin(client)
      const attachments = Array.from({ length: 10 }, async () => {
        const kc = new client.KubeConfig()
        kc.loadFromFile(stage.path)
        const attachment = attach(kc)
        await kc.makeApiClient(client.CoreV1Api).listNamespace()
        return attachment
      })
      for (const attachment of await Promise.all(attachments)) await attachment.close()
      expect(stage.sandbox.pluginRuns).toBe(1)
    })

    it('D26: a user named "constructor" is a user', async () => {
      await using stage = await Stage.withPlugin(client)
      const user = { ...stage.kc.getCurrentUser(), name: 'constructor' }
      const cluster = stage.kc.getCurrentCluster()
      if (cluster === null) throw new Error('no cluster')
      stage.kc.loadFromClusterAndUser(cluster, user)
      expect(await stage.whoAmI()).toBe('jane')
      expect(stage.attachment.status().current?.user).toBe('constructor')
    })
  })

  describe('what a plugin prints', () => {
    it.each([
      ['D3: no status', answerOf({}, { status: undefined })],
      ['D3: a text', '"str"'],
      ['D3: a list', '[]'],
      ['D3: a broken certificate', answerOf({ clientCertificateData: 'x', clientKeyData: 'y' })],
      ['D4: an empty status', answerOf({})],
      ['D4: a certificate without its key', answerOf({ clientCertificateData: 'x' })],
      ['D5: another version', answerOf({ token: 't' }, { apiVersion: 'foo/v9' })],
      ['D5: another kind', answerOf({ token: 't' }, { kind: 'Pod' })],
      ['D19: an expiry that is none', answerOf({ token: 't', expirationTimestamp: 'soon' })],
      ['D19: a local time', answerOf({ token: 't', expirationTimestamp: '2030-01-01T00:00:00' })],
    ])('%s: nothing is sent, and requests succeed after a good answer', async (_, bad) => {
      await using stage = await Stage.withAnswer(client, bad)
      expect(await stage.failure()).toContainEqual(expect.stringMatching(/^ERR_PLUGIN_/))
      expect(stage.sandbox.requests).toEqual([])
      stage.file('answer', answerOf({ token: stage.sandbox.issueToken({ user: 'jane' }).token }))
      await expect.poll(() => stage.whoAmI().catch(() => 'not yet')).toBe('jane')
    })

    it.each([
      ['a byte order mark', (token: string) => `\uFEFF${answerOf({ token })}`],
      [
        'YAML',
        (token: string) =>
          `apiVersion: client.authentication.k8s.io/v1\nkind: ExecCredential\nstatus:\n  token: ${token}\n`,
      ],
    ])('D20: %s is read', async (_, write) => {
      await using stage = await Stage.withAnswer(client, '')
      stage.file('answer', write(stage.sandbox.issueToken({ user: 'jane' }).token))
      expect(await stage.whoAmI()).toBe('jane')
    })
  })

  describe('how a plugin runs', () => {
    const read = 'cat > /dev/null; cat "$0/answer"'

    it('D8: a plugin that reads its standard input gets its end', async () => {
      await using stage = await Stage.withAnswer(client, '', { interactiveMode: 'Never' })
      const { folder } = stage.sandbox
      stage.file('answer', answerOf({ token: stage.sandbox.issueToken({ user: 'jane' }).token }))
      const exec = { command: 'sh', args: ['-c', read, folder], interactiveMode: 'Never' as const }
      stage.kc.loadFromFile(stage.sandbox.writeKubeconfig({ user: { exec } }))
      expect(await stage.whoAmI()).toBe('jane')
    })

    it('D9, D10, K5: it gets the exec info, with the cluster’s config for plugins', async () => {
      await using stage = await Stage.open(client, {
        attach: { env: { ...process.env, KUBERNETES_EXEC_INFO: 'stale' } },
        kubeconfig: async (sandbox) => ({
          extension: { audience: 'test' },
          user: {
            exec: { ...(await sandbox.plugin({ user: 'jane' })), provideClusterInfo: true },
          },
        }),
      })
      expect(await stage.whoAmI()).toBe('jane')
      expect(stage.sandbox.pluginExecInfos).toMatchObject([
        {
          kind: 'ExecCredential',
          spec: { cluster: { server: stage.sandbox.url, config: { audience: 'test' } } },
        },
      ])
    })

    it('D11: a plugin that needs a terminal fails without one, and does not hang', async () => {
      const exec = { interactiveMode: 'Always' }
      await using stage = await Stage.withAnswer(client, '', exec, {
        attach: { stdinUnavailable: 'it is used by this test' },
      })
      expect(await stage.failure()).toContain('ERR_PLUGIN_NEEDS_TERMINAL')
    })

    it('D12: a missing plugin is reported with its install hint', async () => {
      await using stage = await Stage.open(client, {
        kubeconfig: () => ({
          user: { exec: { command: 'no-such-plugin', installHint: 'Get it from the shelf.' } },
        }),
      })
      const error = await stage.whoAmI().catch((reason: unknown) => reason)
      expect(messagesOf(error)).toContain('no-such-plugin')
      const failed = stage.events.find(({ type }) => type === 'run-failed')
      expect(failed).toMatchObject({
        error: { hint: expect.stringContaining('Get it from the shelf.') },
      })
    })

    it('D13: its standard error is reported, even when it succeeds', async () => {
      await using stage = await Stage.withPlugin(client, { stderr: 'open https://login.example\n' })
      await stage.whoAmI()
      expect(stage.events).toContainEqual(
        expect.objectContaining({
          type: 'plugin-stderr',
          text: expect.stringContaining('https://login.example'),
        }),
      )
    })

    it('D14: the error of a failure names command and exit status', async () => {
      await using stage = await Stage.withPlugin(client, { exitCode: 3 })
      const error = await stage.whoAmI().catch((reason: unknown) => reason)
      expect(messagesOf(error)).toMatch(/plugin-1.*3/)
    })

    it('D15: a relative command is resolved against the folder of the kubeconfig', async () => {
      await using stage = await Stage.withPlugin(client)
      const exec = { ...(await stage.sandbox.plugin({ user: 'john' })) }
      const folder = join(stage.sandbox.folder, 'elsewhere')
      mkdirSync(folder)
      const script = `#!/bin/sh\nexec '${exec.command}'\n`
      writeFileSync(join(folder, 'plugin'), script, { mode: 0o700 })
      const path = stage.sandbox.writeKubeconfig({
        path: join(folder, 'config'),
        user: { exec: { ...exec, command: './plugin' } },
      })
      const kc = new client.KubeConfig()
      kc.loadFromFile(path)
      await using _ = attach(kc, { kubeconfig: path })
      await kc.makeApiClient(client.CoreV1Api).listNamespace()
      expect(stage.sandbox.requests.at(-1)?.user).toBe('john')
    })

    it('D16: it does not run for a user who has a token', async () => {
      await using stage = await Stage.open(client, {
        kubeconfig: async (sandbox) => ({
          user: {
            ...sandbox.issueToken({ user: 'john' }),
            exec: await sandbox.plugin({ user: 'jane' }),
          },
        }),
      })
      expect(await stage.whoAmI()).toBe('john')
      expect(stage.sandbox.pluginRuns).toBe(0)
    })

    it('D23: a plugin that hangs is killed, and all waiting requests fail', async () => {
      await using stage = await Stage.open(client, {
        attach: { policy: { pluginTimeoutMs: 2000 } },
        kubeconfig: ({ folder }) => ({
          user: { exec: { command: 'sh', args: ['-c', 'echo >> "$0/runs"; sleep 60', folder] } },
        }),
      })
      const failures = await Promise.all(Array.from({ length: 6 }, () => stage.failure()))
      for (const codes of failures) expect(codes).toContain('ERR_PLUGIN_TIMED_OUT')
      expect(stage.runs).toBe(1)
    })

    it('D24: its failure is shared by all waiting requests, and the next run waits', async () => {
      await using stage = await Stage.withPlugin(client, { exitCode: 1 })
      await Promise.all(Array.from({ length: 50 }, () => stage.failure()))
      for (let count = 0; count < 20; count += 1) await stage.failure()
      expect(stage.sandbox.pluginRuns).toBeLessThanOrEqual(2)
    })

    /** Short, but half of it is enough for a plugin run, however busy the machine is. */
    async function chooseLife(): Promise<number> {
      const beganAt = performance.now()
      await using stage = await Stage.withPlugin(client)
      await stage.api.listNamespace()
      return Math.min(Math.max(2000, 4 * (performance.now() - beganAt)), 10_000)
    }

    it('D25: it runs again before its token expires, and every request succeeds', async () => {
      const lifetimeMs = await chooseLife()
      const reasons: string[] = []
      const observer = (event: CredentialEvent): void => {
        if (event.type === 'run-started') reasons.push(event.reason)
      }
      const options = { attach: { ...quick, observer } }
      await using stage = await Stage.withPlugin(client, { lifetimeMs }, options)
      // On a busy machine one of the runs may be late.
      while (reasons.length < 3) await stage.api.listNamespace()
      expect(reasons).toContain('ahead')
    })
  })
}
