import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AgentHome, answers } from './agent-home.ts'

let home: AgentHome
let plugin: string
const servers: Server[] = []

beforeEach(() => {
  home = new AgentHome()
  plugin = home.plugin('p', answers())
})
afterEach(async () => {
  for (const server of servers.splice(0)) server.close()
  await home.close()
})

/** An impostor that listens and records what it receives. */
async function listenAt(path: string): Promise<string[]> {
  const heard: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (chunk) => heard.push(chunk.toString()))
    socket.end('{"is":"credential","text":"stolen"}\n')
  })
  servers.push(server)
  server.listen(path)
  await once(server, 'listening')
  return heard
}

describe('paths that are not private are not used: nothing is sent, and the plugin runs without an agent:', () => {
  const expectAlone = async (reason: RegExp, heard: readonly string[] = []): Promise<void> => {
    const ended = await home.token(['--', plugin])
    expect(ended).toMatchObject({ status: 0, token: '1' })
    expect(ended.err).toMatch(reason)
    expect(ended.err).toContain('KUBECRED_AGENT=off')
    expect(heard).toEqual([])
  }

  it('a folder that is a link', async () => {
    const elsewhere = home.path('elsewhere')
    mkdirSync(elsewhere, { mode: 0o700 })
    symlinkSync(elsewhere, home.paths.folder)
    const heard = await listenAt(join(elsewhere, 'agent-1.sock'))
    await expectAlone(/it is a symbolic link/, heard)
    expect(existsSync(join(elsewhere, 'agent-1.lock'))).toBe(false)
  })

  it.each([0o770, 0o701, 0o755])('a folder with mode %o', async (mode) => {
    mkdirSync(home.paths.folder)
    const heard = await listenAt(home.paths.socket)
    chmodSync(home.paths.socket, 0o600)
    chmodSync(home.paths.folder, mode)
    await expectAlone(/other users have access/, heard)
  })

  it('a socket that other users can access', async () => {
    mkdirSync(home.paths.folder, { mode: 0o700 })
    const heard = await listenAt(home.paths.socket)
    chmodSync(home.paths.socket, 0o666)
    await expectAlone(/other users have access/, heard)
  })

  it('a link or a file in place of the socket', async () => {
    mkdirSync(home.paths.folder, { mode: 0o700 })
    const heard = await listenAt(home.path('s'))
    symlinkSync(home.path('s'), home.paths.socket)
    await expectAlone(/it is not a socket/, heard)
    rmSync(home.paths.socket)
    writeFileSync(home.paths.socket, '')
    home.plugin('p', answers('1'))
    await expectAlone(/it is not a socket|other users have access/)
  })

  it('a folder whose parent is writable by other users', async () => {
    chmodSync(dirname(home.paths.folder), 0o777)
    await expectAlone(/other users can write to it/)
  })

  it('a path that the kernel would truncate', async () => {
    const long = join(home.path('x'.repeat(120)))
    mkdirSync(long, { mode: 0o700 })
    const ended = await home.token(['--', plugin], { XDG_RUNTIME_DIR: long })
    expect(ended).toMatchObject({ status: 0, token: '1' })
    expect(ended.err).toMatch(/has \d{3} bytes, the limit is 100/)
  })
})
