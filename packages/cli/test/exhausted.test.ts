import { spawn, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canMount, NEEDS_MOUNT, onFullDisk } from '../../core/test/fixtures/full-disk.ts'
import { ended, Home } from './run/home.ts'
import { PROGRAM, Running } from './spawn-program.ts'
import { AgentHome, answers, collect, execInfo, TOKEN_PROGRAM } from './token-program/agent-home.ts'

let sandbox: Sandbox
let kubeconfig: string

beforeAll(async () => {
  sandbox = await startSandbox()
  const { token } = sandbox.issueToken({ user: 'jane' })
  kubeconfig = sandbox.writeKubeconfig({ user: { token } })
})
afterAll(() => sandbox.close())

const FULL_DISK = fileURLToPath(new URL('./fixtures/full-disk.mjs', import.meta.url))

/** Starts a command with enough descriptors for Node to start, but too few for what the command opens. */
const limited = (count: number, args: readonly string[], env = {}): Running =>
  new Running('sh', ['-c', `ulimit -n ${count}; exec "$0" "$@"`, process.execPath, ...args], env)

/** With fewer, Node itself fails to start. */
function fewestForNode(): number {
  for (let count = 12; count < 100; count += 1) {
    const script = 'import("node:fs/promises").then((fs) => fs.readFile(process.execPath))'
    const line = ['-c', `ulimit -n ${count}; exec "$0" "$@"`, process.execPath, '-e', script]
    if (spawnSync('sh', line).status === 0) return count
  }
  throw new Error('Node does not start')
}

describe.skipIf(process.platform === 'win32')('too few file descriptors', () => {
  it('are reported by every command, with a code and its exit status', async () => {
    const fewest = fewestForNode()
    const commands = [
      ['whoami', '--kubeconfig', kubeconfig],
      ['doctor', '--kubeconfig', kubeconfig],
      ['status', '--kubeconfig', kubeconfig],
      ['run', '--kubeconfig', kubeconfig, '--', 'true'],
    ]
    const runs = [0, 1, 2, 3, 4].flatMap((more) =>
      commands.map((command) => limited(fewest + more, [PROGRAM, ...command])),
    )
    const all = await Promise.all(runs.map(ended))
    const failed = all.filter(({ status }) => status !== 0)
    expect(failed.length).toBeGreaterThan(1)
    for (const { status, out, err } of failed) {
      // doctor reports it as the result of a step.
      expect({ status, text: out + err }).toMatchObject({ text: expect.stringContaining('EMFILE') })
      expect(out + err).not.toMatch(/^ {4}at |internal error/m)
      // A kubeconfig that cannot be opened has its own code, and doctor uses that of its step.
      // 126: run could not start its command.
      expect([95, 11, 1, 126]).toContain(status)
      if (status === 95) expect(out + err).toContain('ERR_SYSTEM_EXHAUSTED')
    }
    expect(failed.some(({ err }) => err.includes('see: kubecred explain ERR_SYSTEM_'))).toBe(true)
  })

  it('are reported by kubecred-token', async () => {
    const env = { KUBERNETES_EXEC_INFO: execInfo(), KUBECRED_AGENT: 'off' }
    const fewest = fewestForNode()
    const runs = [0, 1, 3, 6].map((more) =>
      limited(fewest + more, [TOKEN_PROGRAM, '--', '/bin/false'], env),
    )
    const failed = (await Promise.all(runs.map(ended))).filter(({ status }) => status !== 1)
    for (const { status, err } of failed) {
      expect(err).not.toMatch(/^ {4}at /m)
      // 45: the program itself was loaded, and the plugin could not be started.
      expect([95, 45]).toContain(status)
      expect(err).toContain('EMFILE')
    }
    expect(failed.length).toBeGreaterThan(0)
  })
})

describe('a full disk', () => {
  it.each(['mkdtempSync', 'writeFileSync'])('in %s makes run exit with a code', async (name) => {
    await using home = new Home()
    const args = ['run', '--kubeconfig', kubeconfig, '--', 'true']
    const running = home.start(args, { FULL_FOR: name }, { preload: [FULL_DISK] })
    const { status, err } = await ended(running)
    expect(status).toBe(95)
    expect(err).toContain('kubecred: no space left on device: "')
    expect(err).toContain('set XDG_RUNTIME_DIR or TMPDIR')
    expect(home.leftovers()).toEqual([])
  })

  it('lets kubecred-token run the plugin without the agent', async () => {
    const home = new AgentHome()
    try {
      const plugin = home.plugin('p', answers())
      const full = { NODE_OPTIONS: `--import=${FULL_DISK}`, FULL_FOR: 'writeFileSync' }
      const { status, token, err } = await home.token(['--', plugin], full)
      expect({ status, token }).toEqual({ status: 0, token: '1' })
      expect(err).toMatch(/without the agent: its folder ".*" cannot be written \(ENOSPC\)/)
      expect(await home.token(['--', plugin])).toMatchObject({ status: 0, token: '2', err: '' })
    } finally {
      await home.close()
    }
  })
})

describe.skipIf(!canMount)(`a disk that is really full (${NEEDS_MOUNT})`, () => {
  it.each([
    ['run', ['--', 'true']],
    ['proxy', ['--port', '0']],
  ])('makes %s exit with a code, and nothing is left on it', async (command, more) => {
    await using home = new Home()
    const line = [process.execPath, PROGRAM, command, '--kubeconfig', kubeconfig, ...more]
    const { status, err } = await ended(new Running(...onFullDisk(home.folder, line), home.env()))
    expect({ status, err }).toMatchObject({ status: 95 })
    expect(err).toContain('kubecred: no space left on device: "')
    expect(err).toContain('set XDG_RUNTIME_DIR or TMPDIR')
    expect(home.leftovers()).toEqual([])
  })

  it('lets kubecred-token run the plugin, and nothing is left on it', async () => {
    const home = new AgentHome()
    try {
      const plugin = home.plugin('p', answers())
      const line = [process.execPath, TOKEN_PROGRAM, '--', plugin]
      const env = { ...home.env, KUBERNETES_EXEC_INFO: execInfo() }
      const child = spawn(...onFullDisk(home.path('run'), line), { env, cwd: home.folder })
      const { status, token, err } = await collect(child)
      expect({ status, token }).toEqual({ status: 0, token: '1' })
      expect(err).toMatch(/without the agent: its folder ".*" cannot be written \(ENOSPC\)/)
      expect(readdirSync(home.paths.folder)).toEqual([])
    } finally {
      await home.close()
    }
  })
})

describe('little memory', () => {
  it.skipIf(process.platform === 'win32')(
    'is enough for a plugin that prints without end',
    async () => {
      await using home = new Home()
      const command = home.write('floods', '#!/bin/sh\nexec yes 0123456789abcdef\n', 0o700)
      const path = sandbox.writeKubeconfig({ user: { exec: { command } } })
      const args = ['--max-old-space-size=64', PROGRAM, 'whoami', '--kubeconfig', path]
      const flooded = await ended(new Running(process.execPath, args, home.env()))
      expect(flooded).toMatchObject({ signal: null, out: '' })
      expect(flooded.err).toContain('(ERR_PLUGIN_OUTPUT_TOO_LARGE;')
    },
  )
})
