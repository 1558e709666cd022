import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AgentHome, answers, execInfo, TOKEN_PROGRAM } from './agent-home.ts'

let home: AgentHome
let plugin: string

beforeEach(() => {
  home = new AgentHome()
  plugin = home.plugin('p', answers())
})
afterEach(() => home.close())

describe.runIf(process.platform === 'linux')('an agent that is attacked', () => {
  const speak = async (text: string | Buffer): Promise<string> => {
    const socket = connect(home.paths.socket)
    socket.on('error', () => {})
    let heard = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      heard += chunk
    })
    socket.write(text)
    await new Promise((resolve) => socket.once('close', resolve))
    return heard
  }

  it('does not read more than a frame, with a line break or without', async () => {
    await home.token(['--', plugin])
    const { pid } = (await home.status()) ?? { pid: 0 }
    const before = memoryOf(pid)
    const flood = Buffer.alloc(8 * 1024 * 1024, 'x')
    for (let times = 0; times < 8; times += 1) expect(await speak(flood)).toContain('too long')
    expect(memoryOf(pid) - before).toBeLessThan(64 * 1024)
    expect(await home.token(['--', plugin])).toMatchObject({ token: '1', err: '' })
  })

  it('opens no debugger on SIGUSR1, does not end on SIGUSR2, and has no options from the environment', async () => {
    await home.token(['--', plugin], { NODE_OPTIONS: '--inspect-port=0 --title=from-options' })
    const { pid } = (await home.status()) ?? { pid: 0 }
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
    expect(environment).not.toMatch(/NODE_OPTIONS|KUBERNETES_EXEC_INFO|RUNS/)
    for (const signal of ['SIGUSR1', 'SIGUSR2']) process.kill(pid, signal)
    await sleep(300)
    expect(listening(pid)).toEqual([])
    expect((await home.status())?.pid).toBe(pid)
  })

  it('keeps no lock, pipe or file of its parent open', async () => {
    const lock = home.path('lock')
    const file = openSync(lock, 'w')
    const far = Array.from({ length: 197 }, () => 'ignore' as const)
    const child = spawn(process.execPath, [TOKEN_PROGRAM, '--', plugin], {
      env: { ...home.env, KUBERNETES_EXEC_INFO: execInfo() },
      // Also with a high number: Node handles the first sixteen.
      stdio: ['ignore', 'ignore', 'ignore', file, ...far, file],
    })
    expect(await once(child, 'exit')).toEqual([0, null])
    closeSync(file)
    const { pid } = (await home.status()) ?? { pid: 0 }
    const open = readdirSync(`/proc/${pid}/fd`).map((name) => readLink(`/proc/${pid}/fd/${name}`))
    expect(open.length).toBeGreaterThan(3)
    expect(open).not.toContain(realpathSync(lock))
  })

  it('leaves no core dump, and nothing on the disk', async () => {
    await home.token(['--', plugin])
    const { pid } = (await home.status()) ?? { pid: 0 }
    expect(readFileSync(`/proc/${pid}/limits`, 'utf8')).toMatch(/Max core file size\s+0\s+0/)
    const names = execFileSync('ls', ['-A', home.paths.folder]).toString().trim()
    expect(names).toBe('agent-1.sock')
    expect(lstatSync(home.paths.socket).mode & 0o777).toBe(0o600)
  })

  it('starts despite the lock of a dead process, or a malformed lock', async () => {
    mkdirSync(home.paths.folder, { mode: 0o700 })
    const dead = spawnSync('true').pid
    writeFileSync(home.paths.lock, JSON.stringify({ pid: dead, startedAt: 1 }))
    expect(await home.token(['--', plugin])).toMatchObject({ token: '1', err: '' })
    await home.program(['agent', 'stop'])
    writeFileSync(home.paths.lock, 'nonsense')
    expect(await home.token(['--', plugin])).toMatchObject({ token: '2', err: '' })
    expect(existsSync(home.paths.lock)).toBe(false)
    await home.program(['agent', 'stop'])
    execFileSync('mkfifo', [home.paths.lock])
    expect(await home.token(['--', plugin])).toMatchObject({ token: '3', err: '' })
    expect(existsSync(home.paths.lock)).toBe(false)
  })
})

function memoryOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

/** Inodes of TCP sockets that the process listens on. */
function listening(pid: number): string[] {
  const own = execFileSync('ls', ['-l', `/proc/${pid}/fd`]).toString()
  return ['tcp', 'tcp6']
    .flatMap((kind) => readFileSync(`/proc/${pid}/net/${kind}`, 'utf8').split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === '0A' && own.includes(`socket:[${fields[9]}]`))
    .map((fields) => fields[1] ?? '')
}

function readLink(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    // It may already be closed.
    return ''
  }
}
