import { execFileSync } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Running } from '../../../packages/cli/test/spawn-program.ts'

/** A shell in a pod of kwok, which gives a command a terminal but does not make it the command's own. */
export const SHELL_IN_POD = 'kubectl exec -it web -- setsid --ctty --wait sh'

const CTRL_C = '\u0003'
const LONGEST_MS = 20_000

/** Uses a shell as a person does: types, makes the window larger, interrupts a command, and leaves with status 5. */
export async function useShell(running: Running): Promise<void> {
  const type = (line: string): void => void running.child.stdin?.write(line)
  const [, terminal = ''] = await see(running, /terminal (\/dev\/\S+)\./)
  // A prompt says that the shell reads.
  await see(running, /^# /m)
  // What is typed is shown; what comes of it is told apart by the quotes.
  type('echo "ty""ped" $(stty size)\r')
  await see(running, /typed 24 80/)
  execFileSync('stty', ['-F', terminal, 'rows', '50', 'cols', '132'])
  // The news of the new size travels on its own.
  type('until [ "$(stty size)" = "50 132" ]; do sleep 0.1; done; echo "gro""wn"\r')
  await see(running, /grown/)
  // The one that says it is the one that is interrupted.
  type(`sh -c 'echo "sle""eps"; exec sleep 600'\r`)
  await see(running, /sleeps/)
  type(CTRL_C)
  type('echo "inter""rupted" $?\r')
  await see(running, /interrupted 130/)
  type('exit 5\r')
  // kwok tells the status of a command in words only; kubectl's own is then 1.
  expect(await running.end()).toBe(1)
  expect(running.out).toContain('exit status 5')
}

/** Waits for a pattern; shows what there was instead when it does not come. */
async function see(running: Running, pattern: RegExp): Promise<RegExpExecArray> {
  const over = new AbortController()
  const late = pause(LONGEST_MS, undefined, { signal: over.signal }).then(() => {
    throw new Error(`${pattern} does not come: ${JSON.stringify(running.out)}`)
  })
  try {
    return await Promise.race([running.until('out', pattern), late])
  } finally {
    over.abort()
    late.catch(() => {})
  }
}
