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

/** Not interactive: an interactive plugin would have the terminal to itself. */
async function slowPlugin(delayMs = SLOW_MS): Promise<string> {
  const exec = await sandbox.plugin({ user: 'jane', lifetimeMs: 600_000, delayMs })
  return sandbox.writeKubeconfig({ user: { exec: { ...exec, interactiveMode: 'Never' } } })
}

const WAITS_FOR_PLUGIN = /… waiting for plugin \S+ \(1 s\)/

describe.skipIf(!hasScript)(
  'a command that takes longer than a second (needs script: apt install bsdutils)',
  () => {
    it('shows that it waits for the plugin, and removes the line at the end', async () => {
      const kubeconfig = await slowPlugin()
      const commands: [string, RegExp][] = [
        ['whoami', /user:\s+jane/],
        ['fetch /version', /gitVersion/],
        ['token', /ExecCredential/],
        ['doctor', /No problems found/],
      ]
      await Promise.all(
        commands.map(async ([command, end]) => {
          const running = atTerminal(...command.split(' '), '--kubeconfig', kubeconfig)
          await running.until('out', WAITS_FOR_PLUGIN)
          expect(await running.end(), command).toBe(0)
          expect(running.out).toMatch(/ \(2 s\)/)
          expect(screenOf(running.out)).toMatch(end)
          expect(screenOf(running.out), command).not.toContain('waiting')
        }),
      )
    })

    it('shows which contexts status --run waits for', async () => {
      const running = atTerminal('status', '--run', '--kubeconfig', await slowPlugin())
      await running.until('out', /… waiting for context "sandbox" \(1 s\)/)
      expect(await running.end()).toBe(0)
      expect(screenOf(running.out)).toMatch(/expires in/)
      expect(screenOf(running.out)).not.toContain('waiting')
    })

    it('shows that it waits for the server, and removes the line when interrupted', async () => {
      const { token } = sandbox.issueToken({ user: 'jane' })
      sandbox.respondWith(() => new Promise(() => {}))
      const kubeconfig = sandbox.writeKubeconfig({ user: { token } })
      const running = atTerminal('fetch', '/version', '--kubeconfig', kubeconfig)
      await running.until('out', /… waiting for the server 127\.0\.0\.1:\d+ \(1 s\)/)
      running.child.stdin?.write('\x03')
      expect(await running.end()).toBe(130)
      expect(screenOf(running.out)).not.toContain('waiting')
    })

    it('shows nothing while a plugin has the terminal', async () => {
      const { command, env } = await sandbox.plugin({ user: 'jane', lifetimeMs: 600_000 })
      const asks = fileURLToPath(new URL('fixtures/asks.sh', import.meta.url))
      const log = join(sandbox.folder, 'asked')
      const exec = { command: asks, env: { ...env, ASKS_LOG: log, ASKS_PLUGIN: command } }
      const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
      const running = atTerminal('whoami', '--kubeconfig', kubeconfig)
      await running.until('out', /Password: /)
      // Only time can show that nothing is written.
      await sleep(SLOW_MS)
      running.child.stdin?.write('open sesame\r')
      expect(await running.end()).toBe(0)
      expect(running.out).not.toContain('waiting for plugin')
      expect(running.out).toMatch(/Password: \s+user:\s+jane/)
    })
  },
)

it('a command whose standard error is a file shows no progress', async () => {
  const running = spawnProgram('whoami', '--kubeconfig', await slowPlugin(1300))
  expect(await running.end()).toBe(0)
  expect(running.err).toBe('')
})
