import { Readable } from 'node:stream'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import axios from 'axios'
import { got } from 'got'
import { type Cluster, connect } from 'kubecred'
import { createAgent } from 'kubecred/https'
import fetch from 'node-fetch'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let sandbox: Sandbox
let cluster: Cluster

beforeEach(async () => {
  sandbox = await startSandbox()
})
afterEach(async () => {
  await cluster.close()
  await sandbox.close()
})

const PATH = '/api/v1/namespaces/default/configmaps'
const headers = { 'content-type': 'application/json' }
const made = (name: string): string => JSON.stringify({ metadata: { name } })

describe.each([
  ['createAgent', {}],
  ['its direct variant', { direct: true }],
])('%s', (_, options) => {
  it.each(['token', 'certificate', 'both'] as const)(
    'sends what axios, got and node-fetch send, with a %s',
    async (credential) => {
      const exec = await sandbox.plugin({ user: 'jane', credential })
      cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }) })
      const agent = createAgent(cluster, options)
      const url = cluster.server + PATH
      const clients: Record<string, (name: string) => Promise<number>> = {
        axios: async (name) =>
          (await axios.post(url, made(name), { headers, httpsAgent: agent, proxy: false })).status,
        'axios with a stream': async (name) => {
          const data = Readable.from([Buffer.from(made(name))])
          return (await axios.post(url, data, { headers, httpsAgent: agent, proxy: false })).status
        },
        got: async (name) =>
          (await got.post(url, { body: made(name), headers, agent: { https: agent } })).statusCode,
        'node-fetch': async (name) =>
          (await fetch(url, { method: 'POST', body: made(name), headers, agent })).status,
      }
      for (const round of ['one', 'two']) {
        for (const [client, post] of Object.entries(clients)) {
          const name = `${client.replaceAll(' ', '-')}-${round}`
          expect(await post(name), name).toBe(201)
        }
      }
      expect(new Set(sandbox.requests.map(({ user }) => user))).toEqual(new Set(['jane']))
      expect(sandbox.pluginRuns).toBe(1)
    },
  )
})
