import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/index.ts'
import { call, open } from '../client.ts'

const configmaps = '/api/v1/namespaces/default/configmaps'

let sandbox: Sandbox
let token: string
beforeEach(async () => {
  sandbox = await startSandbox()
  token = sandbox.issueToken({ user: 'jane' }).token
})
afterEach(async () => sandbox.close())

const create = async (name: string): Promise<string> => {
  const json = { metadata: { name } }
  const made = await call(sandbox, configmaps, { method: 'POST', token, json })
  return made.json.metadata.resourceVersion
}
const watch = async (version: string): Promise<IncomingMessage> =>
  open(sandbox, `${configmaps}?watch=1&resourceVersion=${version}`, { token })
/** The first event of a watch. */
const next = async (response: IncomingMessage): Promise<string> => {
  const [line] = await once(createInterface(response), 'line')
  response.destroy()
  return JSON.parse(line).object.metadata.name
}

describe('a restart', () => {
  it('closes every connection and keeps the address, objects, tokens and CA', async () => {
    const { url, caPem } = sandbox
    await create('one')
    const watching = await watch('0')
    const ended = once(watching, 'error')
    await sandbox.restart()
    await ended
    expect(sandbox.connections).toEqual({ opened: 2, open: 0 })
    expect(sandbox).toMatchObject({ url, caPem })
    expect((await call(sandbox, `${configmaps}/one`, { token })).status).toBe(200)
    expect(sandbox.requests.at(-1)).toMatchObject({ connection: 3, user: 'jane' })
  })

  it('lets a watch resume where it was', async () => {
    const seen = await create('one')
    await sandbox.restart()
    await create('two')
    expect(await next(await watch(seen))).toBe('two')
  })

  it('accepts no connection while it is down', async () => {
    const restarting = sandbox.restart({ downMs: 60_000 })
    await expect(call(sandbox, '/livez')).rejects.toThrow(/ECONNRE/)
    await sandbox.close()
    await restarting
    await expect(call(sandbox, '/livez')).rejects.toThrow('ECONNREFUSED')
  })

  it('waits for a port that another process has taken meanwhile', async () => {
    const port = Number(new URL(sandbox.url).port)
    const restarting = sandbox.restart({ downMs: 50 })
    const thief = createServer()
    await untilListening(thief, port)
    const released = new Promise((resolve) => setTimeout(() => thief.close(resolve), 150))
    await restarting
    await released
    expect((await call(sandbox, '/livez')).text).toBe('ok')
  })

  it('happens once if it is requested twice', async () => {
    await Promise.all([sandbox.restart(), sandbox.restart()])
    expect((await call(sandbox, '/livez')).text).toBe('ok')
  })

  it('rejects after the sandbox is closed', async () => {
    await sandbox.close()
    await expect(sandbox.restart()).rejects.toThrow('the sandbox is closed')
  })
})

describe('dropping connections', () => {
  it('closes them all and continues to listen', async () => {
    const watching = await watch('0')
    const ended = once(watching, 'error')
    sandbox.dropConnections()
    expect(sandbox.connections.open).toBe(0)
    await ended
    expect((await call(sandbox, '/livez')).text).toBe('ok')
  })
})

/** Waits until the sandbox has released the port. */
async function untilListening(server: ReturnType<typeof createServer>, port: number) {
  for (;;) {
    server.listen(port, '127.0.0.1')
    const taken = once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (await taken) return
  }
}
