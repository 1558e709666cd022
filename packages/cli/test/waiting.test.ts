import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hasScript, onTerminal, quoteWords } from '../../core/test/fixtures/running-program.ts'
import { screenOf } from './screen.ts'
import { PROGRAM, Running, spawnProgram } from './spawn-program.ts'

/** Long enough for the line to be shown and to be rewritten once. */
const SLOW_MS = 2300

let sandbox: Sandbox
beforeEach(async () => {
  sandbox = await startSandbox()
})
afterEach(() => sandbox.close())

const atTerminal = (...args: string[]): Running =>
  new Running(...onTerminal(`stty cols 100; ${quoteWords(process.execPath, PROGRAM, ...args)}`))

/** One that may not ask: a plugin that may has the terminal to itself. */
async function slowPlugin(delayMs = SLOW_MS): Promise<string> {
  const exec = await sandbox.plugin({ user: 'jane', lifetimeMs: 600_000, delayMs })
  return sandbox.writeKubeconfig({ user: { exec: { ...exec, interactiveMode: 'Never' } } })
}

const WAITS_FOR_PLUGIN = /… waiting for plugin \S+, for 1 s now/

describe.skipIf(!hasScript)(
  'a command that takes longer than a second (needs script: apt install bsdutils)',
  () => {
    it('says that it waits for the plugin, and the line is gone in the end', async () => {
      const kubeconfig = await slowPlugin()
      const commands: [string, RegExp][] = [
        ['whoami', /user:\s+jane/],
        ['fetch /version', /gitVersion/],
        ['token', /ExecCredential/],
        ['doctor', /All is well/],
      ]
      await Promise.all(
        commands.map(async ([command, end]) => {
          const running = atTerminal(...command.split(' '), '--kubeconfig', kubeconfig)
          await running.until('out', WAITS_FOR_PLUGIN)
          expect(await running.end(), command).toBe(0)
          expect(running.out).toMatch(/, for 2 s now/)
          expect(screenOf(running.out)).toMatch(end)
          expect(screenOf(running.out), command).not.toContain('waiting')
        }),
      )
    })

    it('status --run says which contexts it waits for', async () => {
      const running = atTerminal('status', '--run', '--kubeconfig', await slowPlugin())
      await running.until('out', /… waiting for context "sandbox", for 1 s now/)
      expect(await running.end()).toBe(0)
      expect(screenOf(running.out)).toMatch(/valid for/)
      expect(screenOf(running.out)).not.toContain('waiting')
    })

    it('says that it waits for the server, and leaves no trace when it is interrupted', async () => {
      const { token } = sandbox.issueToken({ user: 'jane' })
      sandbox.respondWith(() => new Promise(() => {}))
      const kubeconfig = sandbox.writeKubeconfig({ user: { token } })
      const running = atTerminal('fetch', '/version', '--kubeconfig', kubeconfig)
      await running.until('out', /… waiting for the server 127\.0\.0\.1:\d+, for 1 s now/)
      running.child.stdin?.write('\x03')
      expect(await running.end()).toBe(130)
      expect(screenOf(running.out)).not.toContain('waiting')
    })

    it('says nothing while a plugin has the terminal', async () => {
      const { command, env } = await sandbox.plugin({ user: 'jane', lifetimeMs: 600_000 })
      const asks = fileURLToPath(new URL('fixtures/asks.sh', import.meta.url))
      const log = join(sandbox.folder, 'asked')
      const exec = { command: asks, env: { ...env, ASKS_LOG: log, ASKS_PLUGIN: command } }
      const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
      const running = atTerminal('whoami', '--kubeconfig', kubeconfig)
      await running.until('out', /Password: /)
      // That nothing comes, only time can show.
      await sleep(SLOW_MS)
      running.child.stdin?.write('open sesame\r')
      expect(await running.end()).toBe(0)
      expect(running.out).not.toContain('waiting for plugin')
      expect(running.out).toMatch(/Password: \s+user:\s+jane/)
    })
  },
)

it('a command whose words go to a file does not say that it waits', async () => {
  const running = spawnProgram('whoami', '--kubeconfig', await slowPlugin(1300))
  expect(await running.end()).toBe(0)
  expect(running.err).toBe('')
})
