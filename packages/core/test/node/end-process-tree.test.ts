import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { endProcessTree, killTree } from '../../src/node/end-process-tree.ts'
import { isRunning } from '../fixtures/processes.ts'

const FOR_EVER = 'setInterval(() => {}, 60_000)'
const OBEDIENT = `console.log(process.pid); ${FOR_EVER}`
const DEAF = `process.on('SIGTERM', () => {}); ${OBEDIENT}`
const parentOf = (code: string): string =>
  `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(code)}],
    { stdio: 'inherit' }); ${FOR_EVER}`

const started: number[] = []
afterEach(() => {
  for (const pid of started.splice(0).filter(isRunning)) process.kill(pid, 'SIGKILL')
})

/** Starts a program and waits until the innermost child says its number. */
async function start(
  code: string,
  detached = false,
): Promise<{ child: ChildProcess; inner: number }> {
  const child = spawn(process.execPath, ['-e', code], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached,
  })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const inner = Number(line.toString())
  started.push(inner, child.pid ?? inner)
  return { child, inner }
}

async function expectGone(...pids: readonly (number | undefined)[]): Promise<void> {
  await vi.waitFor(() => expect(pids.filter((pid) => isRunning(pid ?? 0))).toEqual([]))
}

describe.runIf(process.platform === 'linux')('a process is ended', () => {
  it.each([true, false])('with its grandchildren, by TERM alone (group %s)', async (isGroup) => {
    const { child, inner } = await start(parentOf(parentOf(OBEDIENT)), isGroup)
    const exited = once(child, 'exit')
    killTree(child, 'SIGTERM', isGroup)
    await exited
    await expectGone(inner)
    expect(child.signalCode).toBe('SIGTERM')
  })

  it.each([true, false])('by KILL when it is deaf, at once if told (group %s)', async (isGroup) => {
    const { child, inner } = await start(parentOf(DEAF), isGroup)
    const endNow = endProcessTree(child, { isGroup })
    if (child.signalCode === null) await once(child, 'exit')
    // The parent obeyed; its child did not, and now belongs to somebody else.
    expect(isRunning(inner)).toBe(true)
    endNow()
    await expectGone(inner)
  })

  it('by KILL after a pause when nobody says anything more', async () => {
    const { child, inner } = await start(DEAF)
    const endNow = endProcessTree(child, { isGroup: false })
    await once(child, 'exit')
    expect(child.signalCode).toBe('SIGKILL')
    endNow()
    await expectGone(inner)
  })

  it('and nobody else: neither we nor a sibling', async () => {
    const [{ child }, sibling] = await Promise.all([start(OBEDIENT), start(OBEDIENT)])
    endProcessTree(child, { isGroup: false })()
    await expectGone(child.pid)
    expect(isRunning(sibling.inner)).toBe(true)
  })

  it('only once: after that its number may be another one’s', async () => {
    const { child } = await start(OBEDIENT)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const kill = vi.spyOn(process, 'kill')
    endProcessTree(child, { isGroup: false })()
    expect(kill).not.toHaveBeenCalled()
    kill.mockRestore()
  })
})

it('is not there when it could not be started', () => {
  const child = { pid: undefined } as ChildProcess
  expect(() => killTree(child, 'SIGKILL', true)).not.toThrow()
})
