import { readFileSync, writeFileSync } from 'node:fs'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type AttachOptions, attach } from 'kubecred/client-node'
import { describe, expect, it } from 'vitest'
import type { ClientNode } from './stage.ts'

interface Config {
  clusters: { name: string; cluster: Record<string, unknown> }[]
  users: { name: string; user: Record<string, unknown> }[]
  contexts: { name: string; context: Record<string, unknown> }[]
}

/** Tests when fields that client-node dropped are looked up in a kubeconfig, and when not. */
export function describeLookups(client: ClientNode): void {
  /** Returns the user that the server sees for a KubeConfig that was changed after it was loaded. */
  async function whoIs(
    sandbox: Sandbox,
    { file, text, options = {} }: { file: string; text: string; options?: AttachOptions },
  ): Promise<string | undefined> {
    const kc = new client.KubeConfig()
    kc.loadFromString(text)
    await using _ = attach(kc, { kubeconfig: file, ...options })
    await kc
      .makeApiClient(client.CoreV1Api)
      .listNamespace()
      .catch(() => {})
    return sandbox.requests.at(-1)?.user
  }

  /** A kubeconfig whose user has a token file, which client-node drops. */
  async function write(): Promise<{ sandbox: Sandbox; file: string; text: string }> {
    const sandbox = await startSandbox()
    const tokenFile = `${sandbox.folder}/token`
    writeFileSync(tokenFile, sandbox.issueToken({ user: 'ann' }).token)
    const file = sandbox.writeKubeconfig({ user: { tokenFile } })
    return { sandbox, file, text: readFileSync(file, 'utf8') }
  }

  const change = (text: string, edit: (config: Config) => void): string => {
    const config = JSON.parse(text) as Config
    edit(config)
    return JSON.stringify(config)
  }
  const first = <T>([one]: readonly T[]): T => one as T

  describe('what client-node dropped is looked up', () => {
    it('in the files that the environment names', async () => {
      const { sandbox, file, text } = await write()
      const env = { KUBECONFIG: `/no/such/file:${sandbox.folder}:${file}` }
      const options = { kubeconfig: undefined, env }
      expect(await whoIs(sandbox, { file, text, options })).toBe('ann')
      await sandbox.close()
    })

    it('but not if there is no readable file', async () => {
      const { sandbox, file, text } = await write()
      const broken = `${sandbox.folder}/broken`
      writeFileSync(broken, '{')
      for (const kubeconfig of ['/no/such/file', sandbox.folder, broken]) {
        const options = { kubeconfig }
        expect(await whoIs(sandbox, { file, text, options })).toBe('system:anonymous')
      }
      await sandbox.close()
    })

    const NOT = 'system:anonymous'
    const EDITS: Readonly<Record<string, [string, (config: Config) => void]>> = {
      'if nothing was changed': ['ann', () => {}],
      'if only the namespace was changed': [
        'ann',
        ({ contexts }) => Object.assign(first(contexts).context, { namespace: 'x' }),
      ],
      'but not if the server was changed: the token is not for it': [
        NOT,
        ({ clusters }) => {
          const { cluster } = first(clusters)
          cluster['server'] = String(cluster['server']).replace('127.0.0.1', 'localhost')
        },
      ],
      'but not if the user was changed': [
        NOT,
        ({ users }) => Object.assign(first(users), { user: { as: 'system:anonymous' } }),
      ],
      'but not for a user of another name': [
        NOT,
        ({ users, contexts }) => {
          first(users).name = 'other'
          first(contexts).context['user'] = 'other'
        },
      ],
    }
    it.each(Object.keys(EDITS))('%s', async (name) => {
      const { sandbox, file, text } = await write()
      const [expected, edit] = EDITS[name] ?? ['', () => {}]
      expect(await whoIs(sandbox, { file, text: change(text, edit) })).toBe(expected)
      await sandbox.close()
    })

    it('but not if the file combines the user with another cluster', async () => {
      const { sandbox, file, text } = await write()
      const apart = change(text, ({ clusters, contexts }) => {
        clusters.push({ name: 'other', cluster: { server: 'https://other.example' } })
        first(contexts).context['cluster'] = 'other'
      })
      writeFileSync(file, apart)
      expect(await whoIs(sandbox, { file, text })).toBe('system:anonymous')
      await sandbox.close()
    })
  })
}
