import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import {
  type PluginOptions,
  type Sandbox,
  type SandboxOptions,
  startSandbox,
} from '@kubecred/sandbox'
import { type Cluster, type ConnectOptions, connect } from 'kubecred'
import { createAgent } from 'kubecred/https'
import { afterEach, describe, expect, it } from 'vitest'
import { startPlainServer } from './plain-server.ts'
import { readText, request } from './request.ts'

let sandbox: Sandbox
let cluster: Cluster
afterEach(async () => {
  await cluster.close()
  await sandbox.close()
})

async function start(
  plugin: Partial<PluginOptions> = {},
  options: SandboxOptions = {},
  more: ConnectOptions = {},
) {
  sandbox = await startSandbox(options)
  const exec = await sandbox.plugin({ user: 'jane', ...plugin })
  cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }), ...more })
  return createAgent(cluster, { direct: true })
}

const NAMESPACES = '/api/v1/namespaces'

async function status(agent: https.Agent, path = NAMESPACES): Promise<number | undefined> {
  const response = await request(sandbox.url, agent, { path })
  await readText(response)
  return response.statusCode
}

describe('the direct variant', () => {
  it('waits for the first credential, and then reuses one connection', async () => {
    const agent = await start()
    expect(await status(agent)).toBe(200)
    const before = sandbox.connections.opened
    for (let sent = 0; sent < 20; sent += 1) expect(await status(agent)).toBe(200)
    expect(sandbox.connections.opened).toBe(before + 1)
    expect(sandbox.pluginRuns).toBe(1)
    const agents = sandbox.requests.map(({ user }) => user)
    expect(new Set(agents)).toEqual(new Set(['jane']))
  })

  it('returns a 401, and refreshes the credential for the next request', async () => {
    const agent = await start()
    await status(agent)
    sandbox.revoke('jane')
    expect(await status(agent)).toBe(401)
    expect(await status(agent)).toBe(200)
    expect(sandbox.pluginRuns).toBe(2)
  })

  it('gets another certificate after the server refused one, and closes the old connection', async () => {
    const agent = await start({ credential: 'certificate' })
    await status(agent)
    await status(agent)
    sandbox.revokeCertificates('jane')
    expect(await status(agent)).toBe(401)
    expect(await status(agent)).toBe(200)
    expect(await status(agent)).toBe(200)
    expect(sandbox.pluginRuns).toBe(2)
  })

  it('ignores a 401 from behind a proxy subresource', async () => {
    const agent = await start({}, { onProxyRequest: () => ({ status: 401, body: 'not yours' }) })
    await status(agent)
    const path = '/api/v1/namespaces/default/services/web/proxy/x?a=/b'
    expect(await status(agent, path)).toBe(401)
    expect(await status(agent)).toBe(200)
    expect(sandbox.pluginRuns).toBe(1)
  })

  it("sends a caller's own Authorization without our certificate, even if it is set late", async () => {
    const agent = await start({ credential: 'both' })
    const { token } = sandbox.issueToken({ user: 'ann' })
    await status(agent)
    const own = `Bearer ${token}`
    const ways: Record<string, () => Promise<IncomingMessage>> = {
      'as a header': () =>
        request(sandbox.url, agent, { path: NAMESPACES, headers: { authorization: own } }),
      'as a list of headers': () =>
        sent({ headers: ['Authorization', own, 'Host', new URL(sandbox.url).host] }),
      'set at once': () => sent({}, (late) => late.setHeader('authorization', own).end()),
      'set later': () =>
        sent({}, (late) => void setTimeout(() => late.setHeader('Authorization', own).end(), 20)),
    }
    for (const [name, send] of Object.entries(ways)) {
      const response = await send()
      await readText(response)
      expect(sandbox.requests.at(-1), name).toMatchObject({
        user: 'ann',
        hasClientCertificate: false,
      })
    }

    function sent(
      options: https.RequestOptions,
      finish: (late: ReturnType<typeof https.request>) => void = (late) => late.end(),
    ): Promise<IncomingMessage> {
      return new Promise((resolve, reject) => {
        const late = https.request(sandbox.url + NAMESPACES, { agent, ...options }, resolve)
        late.once('error', reject)
        finish(late)
      })
    }
  })

  it("does not report a refusal of the caller's own credential", async () => {
    const agent = await start()
    await status(agent)
    const late = https.request(sandbox.url + NAMESPACES, { agent })
    late.setHeader('authorization', 'Bearer wrong')
    late.end()
    const [response] = (await once(late, 'response')) as [IncomingMessage]
    expect(response.statusCode).toBe(401)
    response.resume()
    expect(await status(agent)).toBe(200)
    expect(sandbox.pluginRuns).toBe(1)
  })

  it('does not block a connection whose response has no listener', async () => {
    const agent = await start()
    await status(agent)
    await status(agent)
    const before = sandbox.connections.opened
    for (let sent = 0; sent < 5; sent += 1) {
      const unheard = https.get(sandbox.url + NAMESPACES, { agent })
      await once(unheard, 'close')
    }
    expect(sandbox.connections.opened).toBe(before)
  })

  it('does not consume a response that is read later', async () => {
    const agent = await start()
    await status(agent)
    const response = await new Promise<IncomingMessage>((resolve) => {
      https.get(sandbox.url + NAMESPACES, { agent }, resolve)
    })
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(JSON.parse(await readText(response)).kind).toBe('NamespaceList')
  })

  it('ends open requests with the cluster, and sends nothing afterwards', async () => {
    const agent = await start()
    await status(agent)
    const watch = https.get(`${sandbox.url + NAMESPACES}?watch=true`, { agent })
    const [response] = (await once(watch, 'response')) as [IncomingMessage]
    const failed = once(watch, 'error')
    const cut = new Promise((resolve) => response.once('error', resolve))
    await cluster.close()
    await cut
    expect(await failed).toMatchObject([{ code: 'ERR_CLOSED' }])
    await expect(status(agent)).rejects.toMatchObject({ code: 'ERR_CLOSED' })
  })

  it('impersonates as the cluster or as the caller says, never a mix of both', async () => {
    sandbox = await startSandbox()
    await using plain = await startPlainServer(
      ({ headersDistinct: headers }, response) =>
        response.end(JSON.stringify([headers['impersonate-user'], headers['impersonate-group']])),
      { as: 'jane', asGroups: ['dev', 'ops'] },
    )
    cluster = plain.cluster
    const agent = createAgent(cluster, { direct: true })
    const ask = async (own?: string) => {
      const sent = https.request(plain.url, { agent })
      if (own !== undefined) sent.setHeader('impersonate-user', own)
      const [response] = (await once(sent.end(), 'response')) as [IncomingMessage]
      return JSON.parse(await readText(response))
    }
    for (let round = 0; round < 2; round += 1) {
      expect(await ask()).toEqual([['jane'], ['dev', 'ops']])
      expect(await ask('ann')).toEqual([['ann'], null])
    }
  })
})
