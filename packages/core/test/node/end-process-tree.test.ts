import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { endProcessTree, killTree } from '../../src/node/end-process-tree.ts'
import { isRunning } from '../fixtures/processes.ts'

const NEVER_EXITS = 'setInterval(() => {}, 60_000)'
const EXITS_ON_TERM = `console.log(process.pid); ${NEVER_EXITS}`
const IGNORES_TERM = `process.on('SIGTERM', () => {}); ${EXITS_ON_TERM}`
const parentOf = (code: string): string =>
  `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(code)}],
    { stdio: 'inherit' }); ${NEVER_EXITS}`

const started: number[] = []
afterEach(() => {
  for (const pid of started.splice(0).filter(isRunning)) process.kill(pid, 'SIGKILL')
})

/** Starts a program and waits until the innermost child has printed its PID. */
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
  it.each([true, false])('with its grandchildren, by SIGTERM alone (group %s)', async (isGroup) => {
    const { child, inner } = await start(parentOf(parentOf(EXITS_ON_TERM)), isGroup)
    const exited = once(child, 'exit')
    killTree(child, 'SIGTERM', isGroup)
    await exited
    await expectGone(inner)
    expect(child.signalCode).toBe('SIGTERM')
  })

  it.each([true, false])(
    'by SIGKILL if it ignores SIGTERM, at once on request (group %s)',
    async (isGroup) => {
      const { child, inner } = await start(parentOf(IGNORES_TERM), isGroup)
      const endNow = endProcessTree(child, { isGroup })
      if (child.signalCode === null) await once(child, 'exit')
      // The parent has exited; its child has not, and now has another parent.
      expect(isRunning(inner)).toBe(true)
      endNow()
      await expectGone(inner)
    },
  )

  it('by SIGKILL after a pause by default', async () => {
    const { child, inner } = await start(IGNORES_TERM)
    const endNow = endProcessTree(child, { isGroup: false })
    await once(child, 'exit')
    expect(child.signalCode).toBe('SIGKILL')
    endNow()
    await expectGone(inner)
  })

  it('with what `ps` lists, as on macOS', async () => {
    const { child, inner } = await start(parentOf(parentOf(IGNORES_TERM)))
    Object.defineProperty(process, 'platform', { value: 'darwin' })
    try {
      const endNow = endProcessTree(child, { isGroup: false })
      if (child.signalCode === null) await once(child, 'exit')
      expect(isRunning(inner)).toBe(true)
      endNow()
    } finally {
      Object.defineProperty(process, 'platform', { value: 'linux' })
    }
    await expectGone(inner)
  })

  it('but not its siblings', async () => {
    const [{ child }, sibling] = await Promise.all([start(EXITS_ON_TERM), start(EXITS_ON_TERM)])
    endProcessTree(child, { isGroup: false })()
    await expectGone(child.pid)
    expect(isRunning(sibling.inner)).toBe(true)
  })

  it('but not signalled after its exit, when its PID may belong to another process', async () => {
    const { child } = await start(EXITS_ON_TERM)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const kill = vi.spyOn(process, 'kill')
    endProcessTree(child, { isGroup: false })()
    expect(kill).not.toHaveBeenCalled()
    kill.mockRestore()
  })
})

it('a process that was not started is ignored', () => {
  const child = { pid: undefined } as ChildProcess
  expect(() => killTree(child, 'SIGKILL', true)).not.toThrow()
})
