import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { ended, Home } from '../run/home.ts'
import { Served } from './proxy-process.ts'

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))
const preload = [fixture('broken-tls.mjs')]

let sandbox: Sandbox
let home: Home
let token: string
let kubeconfig: string

beforeAll(async () => {
  sandbox = await startSandbox()
  token = sandbox.issueToken({ user: 'jane' }).token
  kubeconfig = sandbox.writeKubeconfig({ user: { token } })
})
beforeEach(() => {
  home = new Home()
})
afterEach(() => home[Symbol.asyncDispose]())
afterAll(() => sandbox.close())

/** Returns the id in a response of the proxy. */
const idIn = (answer: string): string =>
  /^kubecred proxy: internal error: TypeError: connect is broken, near \[secret\]\. Look for id ([0-9a-f]{8}) /.exec(
    JSON.parse(answer).message,
  )?.[1] ?? answer

const STACK = /TypeError: connect is broken, near \[secret\]\n +at .*broken-tls\.mjs/

it('kubecred proxy prints an internal error to standard error, with the id of the response', async () => {
  const args = ['proxy', '-o', 'json', '--kubeconfig', kubeconfig, '--port', '0', '--no-page']
  const proxy = await Served.of(home.start(args, { QUOTED_TOKEN: token }, { preload }))
  const response = await proxy.open('/version')
  expect(response.statusCode).toBe(500)
  const id = idIn(await text(response))
  await proxy.running.until('err', new RegExp(`kubecred: internal error ${id}\\n[^]*\\n`))
  const upgraded = await upgrade(proxy)
  expect(idIn(upgraded)).toMatch(/^[0-9a-f]{8}$/)
  expect(await proxy.status('/version')).toBe(500)
  expect(await proxy.end()).toBe(0)
  const { err } = proxy.running
  expect(err).toMatch(STACK)
  expect(err).toContain(`internal error ${idIn(upgraded)}`)
  // Printed in full once; the second occurrence is counted.
  expect(err.split(`internal error ${id}\n`)).toHaveLength(2)
  expect(err).toContain(`internal error ${id}, once more since it was last written\n`)
  expect(err).not.toContain(token)
})

it('kubecred run prints an internal error to standard error even without -v, and counts repetitions', async () => {
  const command = [process.execPath, fixture('get-version.mjs'), '4']
  const args = ['run', '--kubeconfig', kubeconfig, '--', ...command]
  const { status, out, err } = await ended(home.start(args, { QUOTED_TOKEN: token }, { preload }))
  expect(status).toBe(0)
  const ids = out.trim().split('\n').map(idIn)
  expect(new Set(ids).size).toBe(1)
  expect(ids).toHaveLength(4)
  expect(err).toMatch(STACK)
  expect(err.match(/connect is broken/g)).toHaveLength(1)
  expect(err).toContain(`kubecred: internal error ${ids[0]}\n`)
  expect(err).toContain(
    `kubecred: internal error ${ids[0]}, 3 times more since it was last written`,
  )
  expect(err).not.toContain(token)
})

/** Requests a WebSocket, and returns the response body. */
function upgrade({ said, secret }: Served): Promise<string> {
  const headers = { ...secret, connection: 'Upgrade', upgrade: 'websocket' }
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port: said.port, path: '/api', headers })
    asked.once('response', (response) => resolve(text(response))).once('error', reject)
    asked.end()
  })
}
