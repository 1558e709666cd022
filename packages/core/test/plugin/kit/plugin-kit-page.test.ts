import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { INFO, runPath, writePlugin } from './spawn-plugin.ts'

const root = new URL('../../../../../', import.meta.url)
const EXAMPLE = fileURLToPath(new URL('examples/plugin-kit/plugin.mjs', root))
const page = readFileSync(new URL('docs/plugin-kit.md', root), 'utf8')

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox()
})
afterAll(() => sandbox.close())

/** The user name that the server sees from a client with this plugin. */
async function userSeenWith(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const kubeconfig = sandbox.writeKubeconfig({
    user: { exec: { command, args: [...args], env, provideClusterInfo: true } },
    extension: { audience: 'sandbox' },
  })
  await using cluster = await connect({ kubeconfig })
  expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
  return sandbox.requests.at(-1)?.user
}

describe('examples/plugin-kit', () => {
  it('authenticates a client', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    expect(await userSeenWith(process.execPath, [EXAMPLE], { EXAMPLE_TOKEN: token })).toBe('jane')
  })

  it('reports what is missing', async () => {
    expect(await runPath(EXAMPLE, { EXAMPLE_TOKEN: undefined })).toEqual({
      status: 3,
      out: '',
      err: 'Error: log in first: set EXAMPLE_TOKEN\n',
    })
  })
})

describe('docs/plugin-kit.md', () => {
  const [, source = ''] = /^```js plugin\n([\s\S]*?)^```/m.exec(page) ?? []

  it('has a plugin that works as printed', async () => {
    const asked: string[] = []
    const idp = createServer((request: IncomingMessage, response) => {
      void text(request).then((body) => {
        asked.push(body)
        const { token } = sandbox.issueToken({ user: 'ann', lifetimeMs: 60_000 })
        response.end(JSON.stringify({ access_token: token, expires_in: 60 }))
      })
    }).listen(0, '127.0.0.1')
    await vi.waitUntil(() => idp.listening)
    const { port } = idp.address() as AddressInfo
    const env = { MY_IDP: `http://127.0.0.1:${port}`, MY_PASSWORD: 'pw' }
    expect(await userSeenWith(process.execPath, [writePlugin(source)], env)).toBe('ann')
    expect(asked).toEqual(['audience=sandbox&password=pw'])
    idp.close()
  })

  it('has a plugin that reports why the login failed', async () => {
    const path = writePlugin(source)
    const env = { KUBERNETES_EXEC_INFO: INFO, MY_IDP: 'http://127.0.0.1:1' }
    const { status, err } = await runPath(path, { ...env, MY_PASSWORD: 'pw' })
    expect(status).toBe(1)
    expect(err).toMatch(/^TypeError: fetch failed: .+\n$/)
    expect((await runPath(path, env)).err).toContain('the client runs it without a terminal')
  })

  it('is short', () => {
    expect(page.split('\n').length).toBeLessThanOrEqual(130)
  })
})
