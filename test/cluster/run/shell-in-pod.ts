import { execFileSync } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Running } from '../../../packages/cli/test/spawn-program.ts'

/** A shell in a pod of kwok, which gives a command a terminal, but not as its controlling terminal. */
export const SHELL_IN_POD = 'kubectl exec -it web -- setsid --ctty --wait sh'

const CTRL_C = '\u0003'
const TIMEOUT_MS = 20_000

/** Uses an interactive shell: types, resizes the window, interrupts a command, and exits with status 5. */
export async function useShell(running: Running): Promise<void> {
  const type = (line: string): void => void running.child.stdin?.write(line)
  const [, terminal = ''] = await see(running, /terminal (\/dev\/\S+)\./)
  // The prompt means that the shell is ready.
  await see(running, /^# /m)
  // The terminal echoes the input; the quotes distinguish it from the output.
  type('echo "ty""ped" $(stty size)\r')
  await see(running, /typed 24 80/)
  execFileSync('stty', ['-F', terminal, 'rows', '50', 'cols', '132'])
  // The new size arrives asynchronously.
  type('until [ "$(stty size)" = "50 132" ]; do sleep 0.1; done; echo "gro""wn"\r')
  await see(running, /grown/)
  // The command that has printed this is the one to interrupt.
  type(`sh -c 'echo "sle""eps"; exec sleep 600'\r`)
  await see(running, /sleeps/)
  type(CTRL_C)
  type('echo "inter""rupted" $?\r')
  await see(running, /interrupted 130/)
  type('exit 5\r')
  // kwok reports the exit status only in the message; kubectl then exits with 1.
  expect(await running.end()).toBe(1)
  expect(running.out).toContain('exit status 5')
}

/** Waits for a pattern; the error shows the output if it does not come. */
async function see(running: Running, pattern: RegExp): Promise<RegExpExecArray> {
  const over = new AbortController()
  const late = pause(TIMEOUT_MS, undefined, { signal: over.signal }).then(() => {
    throw new Error(`${pattern} does not come: ${JSON.stringify(running.out)}`)
  })
  try {
    return await Promise.race([running.until('out', pattern), late])
  } finally {
    over.abort()
    late.catch(() => {})
  }
}
