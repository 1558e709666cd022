import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { runProcess } from '../../src/node/node-programs.ts'
import { processProtocol } from '../../src/node/process-registry.ts'
import type { RunOutcome, RunRequest } from '../../src/ports/programs.ts'
import { Secret } from '../../src/secret/secret.ts'
import { isRunning } from '../fixtures/processes.ts'

const NEVER_EXITS = 'setInterval(() => {}, 60_000)'
const isLinux = process.platform === 'linux'
let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubecred-run-'))
})
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(() => {
  expect(processProtocol().counts()).toMatchObject({ slots: 0, locks: 0, ends: 0 })
})

type RunOptions = Partial<Omit<RunRequest, 'args'>> & { args?: readonly string[] }

/** Runs JavaScript code as a program. */
function run(code: string, { args = [], ...options }: RunOptions = {}): Promise<RunOutcome> {
  return runProcess({
    command: 'plugin',
    path: process.execPath,
    args: ['-e', code, ...args].map((arg) => new Secret(arg)),
    env: {},
    interactive: false,
    timeoutMs: 20_000,
    stdoutLimit: 65_536,
    signal: new AbortController().signal,
    ...options,
  })
}

function stdoutOf(outcome: RunOutcome): string {
  if (outcome.ended !== 'exited') throw new Error(`it ended ${outcome.ended}`)
  return Buffer.from(outcome.stdout).toString()
}

async function evaluate(expression: string, options?: RunOptions): Promise<unknown> {
  return JSON.parse(stdoutOf(await run(`console.log(JSON.stringify(${expression}))`, options)))
}

describe('a program is started', () => {
  it('without a shell, with its arguments unchanged', async () => {
    const args = ['a b', '$(id)', '; id', '*', '', '"', 'ü']
    expect(await evaluate('process.argv.slice(1)', { args: ['--', ...args] })).toEqual(args)
  })

  it('with the configured command as argv0', async () => {
    const command = 'some/plugin'
    expect(await evaluate('process.argv0', { command })).toBe(command)
  })

  it('from the located path, whatever the command resolves to', async () => {
    const path = join(folder, 'alias')
    symlinkSync(process.execPath, path)
    expect(await evaluate('process.argv0', { command: 'false', path })).toBe('false')
  })

  it('with the given environment and nothing else', async () => {
    expect(await evaluate('process.env', { env: { ONLY: 'this' } })).toEqual({ ONLY: 'this' })
  })

  it('with empty standard input', async () => {
    expect(await evaluate("require('node:fs').readFileSync(0, 'utf8')")).toBe('')
  })

  it.runIf(isLinux).each([
    [false, 'in its own session'],
    [true, 'in the session of this process'],
  ])('interactive %s: %s', async (interactive) => {
    const session = "require('node:fs').readFileSync('/proc/self/stat', 'utf8').split(' ')[5]"
    const [own, pid] = (await evaluate(`[${session}, process.pid]`, { interactive })) as [
      string,
      number,
    ]
    expect(Number(own) === pid).toBe(!interactive)
  })
})

describe('a program ends', () => {
  it('with its exit status and its whole output', async () => {
    const outcome = await run("process.stdout.write('x'.repeat(65_536)); process.exitCode = 7")
    expect(outcome).toMatchObject({ ended: 'exited', status: 7 })
    expect(stdoutOf(outcome)).toHaveLength(65_536)
  })

  it('when it prints one byte more than the limit', async () => {
    const outcome = await run(`process.stdout.write('x'.repeat(65_537)); ${NEVER_EXITS}`)
    expect(outcome).toMatchObject({ ended: 'output-too-large' })
    expect(outcome).not.toHaveProperty('stdout')
  })

  it('by a signal of another process', async () => {
    const outcome = await run(`process.kill(process.pid, 'SIGTERM'); ${NEVER_EXITS}`)
    expect(outcome).toMatchObject({ ended: 'killed', signal: 'SIGTERM' })
  })

  it('at its time limit, with its standard error so far', async () => {
    const outcome = await run(`console.error('thinking'); ${NEVER_EXITS}`, { timeoutMs: 2000 })
    expect(outcome).toMatchObject({ ended: 'timed-out', stderrTail: 'thinking\n' })
  })

  it.runIf(isLinux)('at its time limit although it is suspended', async () => {
    let text = ''
    const outcome = await run(`console.error(process.pid); process.kill(process.pid, 'SIGSTOP')`, {
      timeoutMs: 2000,
      onStderr: (more) => (text += more),
    })
    expect(outcome).toMatchObject({ ended: 'timed-out' })
    await vi.waitFor(() => expect(isRunning(Number(text))).toBe(false), 10_000)
  })

  it.runIf(isLinux)(
    'in time if it exits before its limit, even if its output is still open',
    async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      const child = `require('node:child_process').spawn(process.execPath, ['-e', '${NEVER_EXITS}'],
      { stdio: ['ignore', 'inherit', 'ignore'] }).pid`
      const code = `console.log(${child}); console.error(process.pid); process.exit()`
      let pid = ''
      const outcome = run(code, { timeoutMs: 100, onStderr: (text) => (pid += text.trim()) })
      while (pid === '' || existsSync(`/proc/${pid}`)) await setImmediate()
      vi.advanceTimersByTime(100)
      vi.advanceTimersByTime(250)
      vi.useRealTimers()
      process.kill(Number(stdoutOf(await outcome)), 'SIGKILL')
      expect(await outcome).toMatchObject({ ended: 'exited', status: 0 })
    },
  )

  it.each([false, true])('with all its children (interactive %s)', async (interactive) => {
    const deaf = `process.on('SIGTERM', () => {}); console.log('ready'); ${NEVER_EXITS}`
    const file = join(folder, `pid-${interactive}`)
    const code = `
      const child = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(deaf)}],
        { stdio: ['ignore', 'pipe', 'ignore'] })
      child.stdout.once('data', () => require('node:fs').writeFileSync(${JSON.stringify(file)}, String(child.pid)))
      ${NEVER_EXITS}`
    const abort = new AbortController()
    const outcome = run(code, { interactive, signal: abort.signal })
    const pid = await vi.waitFor(() => Number(readFileSync(file, 'utf8') || Number.NaN), 10_000)
    expect(isRunning(pid)).toBe(true)
    abort.abort()
    expect(await outcome).toMatchObject({ ended: 'aborted' })
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false))
  })
})

describe('a program is not started', () => {
  const file = (name: string, content: string, mode = 0o755): string => {
    const path = join(folder, name)
    writeFileSync(path, content, 'latin1')
    chmodSync(path, mode)
    return path
  }
  const aarch64 = `\x7fELF\x02\x01\x01${'\0'.repeat(9)}\x02\0\xb7\0${'\0'.repeat(44)}`

  it.runIf(isLinux).each([
    ['a binary for another architecture', 'ENOEXEC', () => aarch64],
    ['a script without a shebang', 'ENOEXEC', () => `touch ${folder}/trap\n`],
    ['a script with a missing interpreter', 'ENOENT', () => '#!/nowhere/sh\n'],
  ])('if it is %s: %s', async (name, errno, content) => {
    const path = file(name.replaceAll(' ', '-'), content())
    expect(await run('', { path })).toMatchObject({ ended: 'not-started', errno })
    expect(existsSync(join(folder, 'trap'))).toBe(false)
  })

  it('if it is not executable', async () => {
    const path = file('forbidden', '#!/bin/sh\n', 0o644)
    expect(await run('', { path })).toMatchObject({ ended: 'not-started', errno: 'EACCES' })
  })

  it('if a variable is too large', async () => {
    const env = { LARGE: 'x'.repeat(140_000) }
    expect(await run('', { env })).toMatchObject({ ended: 'not-started', errno: 'E2BIG' })
  })

  it.each([{ env: { A: 'hidden\0' } }, { args: ['hidden\0'] }])(
    'if a value has a NUL byte: %o',
    async (options) => {
      const outcome = await run('', options)
      expect(outcome).toMatchObject({ ended: 'not-started', errno: 'ERR_INVALID_ARG_VALUE' })
      expect(JSON.stringify(outcome)).not.toContain('hidden')
    },
  )
})

describe('a slot', () => {
  it('is waited for, until the caller aborts', async () => {
    const { takeSlot } = processProtocol()
    const releases = await Promise.all(Array.from({ length: 8 }, () => takeSlot()))
    const abort = new AbortController()
    const [waiting, leaving] = [evaluate('1'), run(NEVER_EXITS, { signal: abort.signal })]
    abort.abort()
    expect(await leaving).toMatchObject({ ended: 'aborted', tookMs: 0 })
    releases.pop()?.()
    expect(await waiting).toBe(1)
    for (const release of releases) release()
  })

  it('is released if the caller aborts at the moment it is granted', async () => {
    const { takeSlot } = processProtocol()
    const releases = await Promise.all(Array.from({ length: 8 }, () => takeSlot()))
    const abort = new AbortController()
    const outcome = run(NEVER_EXITS, { signal: abort.signal })
    for (const release of releases) release()
    abort.abort()
    expect(await outcome).toMatchObject({ ended: 'aborted' })
  })

  it('is not taken if the caller has aborted before', async () => {
    expect(await run(NEVER_EXITS, { signal: AbortSignal.abort() })).toMatchObject({
      ended: 'aborted',
    })
  })
})
