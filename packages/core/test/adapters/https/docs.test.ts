import { readFileSync } from 'node:fs'
import https from 'node:https'
import { PassThrough } from 'node:stream'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import axios from 'axios'
import { got } from 'got'
import { type Cluster, connect } from 'kubecred'
import { createAgent } from 'kubecred/https'
import { openWebSocket, webSocketOptions } from 'kubecred/ws'
import fetch from 'node-fetch'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { execPath } from '../ws/exec-echo.ts'

let sandbox: Sandbox
let cluster: Cluster
let output: PassThrough
const sockets: WebSocket[] = []

/** The `WebSocket` of the pages. A test waits until each one is open: closing the cluster earlier would be an error. */
class DocsWebSocket extends WebSocket {
  constructor(...args: ConstructorParameters<typeof WebSocket>) {
    super(...args)
    sockets.push(this)
  }
}

beforeEach(async () => {
  sandbox = await startSandbox()
  const exec = await sandbox.plugin({ user: 'jane' })
  cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }) })
  output = new PassThrough()
  const made = await cluster.fetch('/api/v1/namespaces/default/pods', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"metadata":{"name":"web"},"spec":{"containers":[{"name":"main","image":"x"}]}}',
  })
  expect(made.status).toBe(201)
})
afterEach(async () => {
  await cluster.close()
  await sandbox.close()
})

/** Runs a code block of a page, with its imports and the variables of the blocks before it. */
function run(code: string): Promise<void> {
  const known: Record<string, unknown> = {
    https,
    axios,
    got,
    fetch,
    WebSocket: DocsWebSocket,
    createAgent,
    openWebSocket,
    webSocketOptions,
    connect: async () => cluster,
    process: { stdout: output },
    ...(code.includes('const cluster =') ? {} : { cluster }),
    ...(code.includes('const agent =') ? {} : { agent: createAgent(cluster) }),
    ...(code.includes('const path =') ? {} : { path: execPath('default', 'web') }),
  }
  const body = code.replaceAll(/^import .*$/gm, '')
  return AsyncFunction(...Object.keys(known), body)(...Object.values(known))
}

const AsyncFunction = (async () => {}).constructor as FunctionConstructor

function piecesOf(page: string): string[] {
  const text = readFileSync(new URL(`../../../../../docs/${page}`, import.meta.url), 'utf8')
  return [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = '']) => code)
}

describe.each(['https.md', 'ws.md'])('an example of docs/%s', (page) => {
  it.each(piecesOf(page).map((code) => [code.trim().split('\n').at(-1) ?? '', code]))(
    'works: %s',
    async (_, code) => {
      const before = sandbox.requests.length
      await run(code)
      const last = () => sandbox.requests.slice(before).map(({ user, status }) => [user, status])
      const status = page === 'ws.md' || code.includes('WebSocket') ? 101 : 200
      await expect.poll(last, { timeout: 10_000 }).toEqual([['jane', status]])
      if (code.includes('process.stdout'))
        await expect.poll(() => output.readableLength).not.toBe(0)
      for (const socket of sockets.splice(0)) {
        await expect.poll(() => socket.readyState).not.toBe(WebSocket.CONNECTING)
      }
    },
  )
})
