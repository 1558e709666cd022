import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type KubeconfigExec, type Sandbox, startSandbox } from '@kubecred/sandbox'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hasScript, onTerminal, quoteWords } from '../../core/test/fixtures/running-program.ts'
import { PROGRAM, Running, spawnProgram } from './spawn-program.ts'

const fixture = (name: string): string =>
  fileURLToPath(new URL(`fixtures/${name}`, import.meta.url))

let sandbox: Sandbox
let log: string

beforeEach(async () => {
  sandbox = await startSandbox()
  log = join(sandbox.folder, 'asked')
})
afterEach(() => sandbox.close())

async function writeKubeconfig(
  interactiveMode: KubeconfigExec['interactiveMode'],
  lifetimeMs = 600_000,
): Promise<string> {
  const { command, env } = await sandbox.plugin({ user: 'jane', lifetimeMs })
  const exec = {
    command: fixture('asks.sh'),
    env: { ...env, ASKS_LOG: log, ASKS_PLUGIN: command },
    ...(interactiveMode !== undefined && { interactiveMode }),
  }
  return sandbox.writeKubeconfig({ user: { exec } })
}

const atTerminal = (...command: string[]): Running =>
  new Running(...onTerminal(quoteWords(...command)))

const type = (running: Running, keys: string): void => void running.child.stdin?.write(keys)
const infosOf = (): { spec: { interactive: boolean } }[] =>
  readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

describe.skipIf(!hasScript)(
  'a plugin that asks, on a terminal (needs script: apt install bsdutils)',
  () => {
    it('gets the terminal: it prompts with echo off, and the input is used', async () => {
      const kubeconfig = await writeKubeconfig('IfAvailable')
      const running = atTerminal(process.execPath, PROGRAM, 'whoami', '--kubeconfig', kubeconfig)
      await running.until('out', /Password: /)
      type(running, 'open sesame\r')
      expect(await running.end()).toBe(0)
      expect(running.out).toMatch(/user:\s+jane/)
      expect(running.out).not.toContain('sesame')
    })

    it('shows once why it failed, and the exit status matches', async () => {
      const kubeconfig = await writeKubeconfig('Always')
      const running = atTerminal(process.execPath, PROGRAM, 'whoami', '--kubeconfig', kubeconfig)
      await running.until('out', /Password: /)
      type(running, 'guess\r')
      expect(await running.end()).toBe(33)
      expect(running.out.match(/wrong password/g)).toHaveLength(1)
      expect(running.out).toContain('failed with exit code 1')
    })

    it('prompts once for many waiting requests', async () => {
      const kubeconfig = await writeKubeconfig('Always')
      const running = atTerminal(
        'env',
        `KUBECONFIG=${kubeconfig}`,
        process.execPath,
        fixture('many-requests.mjs'),
      )
      await running.until('out', /Password: /)
      type(running, 'open sesame\r')
      expect(await running.end()).toBe(0)
      expect(running.out).toContain('statuses: 200')
      expect(running.out.match(/Password: /g)).toHaveLength(1)
    })

    it('does not prompt for a renewal in the background, which has no terminal', async () => {
      const kubeconfig = await writeKubeconfig('IfAvailable', 6000)
      const running = atTerminal(
        'env',
        `KUBECONFIG=${kubeconfig}`,
        process.execPath,
        fixture('many-requests.mjs'),
        'stay',
      )
      await running.until('out', /Password: /)
      type(running, 'open sesame\r')
      expect(await running.end()).toBe(0)
      expect(running.out).toContain('later: 200')
      expect(
        infosOf()
          .map(({ spec }) => spec.interactive)
          .slice(0, 2),
      ).toEqual([true, false])
      expect(running.out.match(/Password: /g)).toHaveLength(1)
    })

    it('ends with us on Ctrl-C', async () => {
      const kubeconfig = await writeKubeconfig('Always')
      const running = atTerminal(process.execPath, PROGRAM, 'whoami', '--kubeconfig', kubeconfig)
      await running.until('out', /Password: /)
      type(running, '\x03')
      expect(await running.end()).toBe(130)
      const left = spawnSync('pgrep', ['-f', fixture('asks.sh')]).stdout?.toString() ?? ''
      expect(left.trim()).toBe('')
    })

    it('cannot prompt if standard input is used for something else, which the message names', async () => {
      const kubeconfig = await writeKubeconfig('Always')
      const args = ['fetch', '/api/v1/namespaces', '-d', '@-', '--kubeconfig', kubeconfig]
      const running = atTerminal(process.execPath, PROGRAM, ...args)
      type(running, '{}\x04\x04')
      expect(await running.end()).toBe(44)
      expect(running.out).toContain('standard input is unavailable: used by -d @-')
      expect(existsSync(log)).toBe(false)
    })
  },
)

describe('a plugin that prompts, without a terminal', () => {
  it('fails at once with the reason if it must prompt', async () => {
    const running = spawnProgram('whoami', '--kubeconfig', await writeKubeconfig('Always'))
    expect(await running.end()).toBe(44)
    expect(running.err).toContain('standard input is not a terminal')
    expect(existsSync(log)).toBe(false)
  })

  it('runs with empty standard input if it need not prompt', async () => {
    const running = spawnProgram('whoami', '--kubeconfig', await writeKubeconfig('IfAvailable'))
    writeFileSync(join(sandbox.folder, 'unused'), '')
    running.child.stdin?.write('not for the plugin\n')
    expect(await running.end()).toBe(0)
    expect(running.out).toMatch(/user:\s+jane/)
    expect(infosOf()[0]?.spec.interactive).toBe(false)
  })
})
