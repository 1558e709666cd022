import { once } from 'node:events'
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { agentView } from '../../src/agent/agent-view.ts'
import { askAgent } from '../../src/agent/ask-agent.ts'
import { AgentHome, answers, TOKEN_PROGRAM } from '../token-program/agent-home.ts'

let home: AgentHome
let server: Server
const sockets: Socket[] = []

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  home = new AgentHome()
  mkdirSync(home.paths.folder, { mode: 0o700 })
  // Accepts connections, as the kernel does for a suspended process.
  server = createServer((socket) => sockets.push(socket.on('error', () => {}).resume()))
  await once(server.listen(home.paths.socket), 'listening')
  chmodSync(home.paths.socket, 0o600)
})
afterEach(() => {
  vi.useRealTimers()
  for (const socket of sockets.splice(0)) socket.destroy()
  server.close()
  rmSync(home.folder, { recursive: true, force: true })
})

/** Waits until there are so many connections, and returns the last one. */
async function connection(count: number): Promise<Socket | undefined> {
  while (sockets.length < count) await once(server, 'connection')
  return sockets[count - 1]
}

const CHECK_EVERY_MS = 3000
const MAX_CHECK_MS = 5000

describe('an agent that does not answer', () => {
  it('is checked, and given up if it does not answer the check either', async () => {
    const asked = askAgent(home.paths, { do: 'stop' })
    const failed = expect(asked).rejects.toMatchObject({
      code: 'ERR_AGENT_UNUSABLE',
      hint: expect.stringContaining('kubecred agent serve'),
    })
    await connection(1)
    vi.advanceTimersByTime(CHECK_EVERY_MS)
    await connection(2)
    vi.advanceTimersByTime(MAX_CHECK_MS)
    await failed
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is waited for as long as it answers checks, even late ones', async () => {
    const asked = askAgent(home.paths, { do: 'stop' })
    const first = await connection(1)
    for (const count of [2, 3]) {
      vi.advanceTimersByTime(CHECK_EVERY_MS)
      const check = await connection(count)
      // As after this process was suspended: the time is over, and the answer has not been read.
      await sleep(1)
      check?.write('{"is":"status"}\n')
      vi.advanceTimersByTime(MAX_CHECK_MS)
      if (check !== undefined) await once(check, 'close')
    }
    first?.write('{"is":"done"}\n')
    expect(await asked).toEqual({ is: 'done' })
    expect(vi.getTimerCount()).toBe(0)
  })

  it('delays kubecred status once, not once for each context', async () => {
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: TOKEN_PROGRAM,
      args: ['--', home.plugin('p', answers())],
      interactiveMode: 'Never',
    }
    const kubeconfig = home.path('config')
    const contexts = ['one', 'two', 'three'].map((name) => ({
      name,
      context: { cluster: 'k', user: 'u' },
    }))
    const clusters = [{ name: 'k', cluster: { server: 'https://127.0.0.1:1' } }]
    const users = [{ name: 'u', user: { exec } }]
    writeFileSync(kubeconfig, JSON.stringify({ clusters, users, contexts }))
    const seen = agentView({ kubeconfig, env: home.env }, Date.now())
    await connection(1)
    vi.advanceTimersByTime(CHECK_EVERY_MS)
    await connection(2)
    vi.advanceTimersByTime(MAX_CHECK_MS)
    expect(await seen).toEqual(new Map())
    expect(sockets).toHaveLength(2)
  })
})
