import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeExecInfo } from '../../../src/plugin/exec-info.ts'
import { hasScript, onTerminal, RunningProgram } from '../../fixtures/running-program.ts'
import { pluginWith, runBody, V1 } from './spawn-plugin.ts'

const hasTerminal = hasScript && existsSync('/dev/tty')
const KUBERNETES_EXEC_INFO = encodeExecInfo({ apiVersion: V1, interactive: true })

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubecred-terminal-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface AtTerminal {
  readonly plugin: RunningProgram
  /** Waits for the question, then types. */
  type(after: RegExp, keys: string): Promise<void>
  /** What the terminal showed, what the plugin answered, how it ended, and how it left the terminal. */
  end(): Promise<{ shown: string; answer: string; status: string; isRestored: boolean }>
}

function atTerminal(path: string, redirect = ''): AtTerminal {
  const out = join(folder, 'answer')
  const run = `"${process.execPath}" "${path}" >"${out}" ${redirect}`
  const look = '[ "$before" = "$(stty -g)" ] && echo restored'
  const command = `before=$(stty -g); ${run}; echo "status=$?"; ${look}`
  const plugin = new RunningProgram(...onTerminal(command), {
    env: { ...process.env, SHELL: '/bin/sh', KUBERNETES_EXEC_INFO },
  })
  return {
    plugin,
    async type(after, keys) {
      await plugin.until('out', after)
      plugin.child.stdin?.write(keys)
    },
    async end() {
      const { out: shown } = await plugin.ended()
      return {
        shown: shown.replace(/status=[\s\S]*/, ''),
        answer: readFileSync(out, 'utf8'),
        status: /status=(\d+)/.exec(shown)?.[1] ?? '',
        isRestored: /status=\d+\s+restored/.test(shown),
      }
    },
  }
}

const tokenOf = (answer: string): string => JSON.parse(answer).status.token

describe.skipIf(!hasTerminal)('at a terminal, a plugin', () => {
  const asksForSecret = "return { token: await prompt('Password: ', { secret: true }) }"

  it('asks for a secret without showing it', async () => {
    const terminal = atTerminal(pluginWith(asksForSecret))
    await terminal.type(/Password: /, 'hunnn\x7f\x7fter2\r')
    const { shown, answer, status, isRestored } = await terminal.end()
    expect(tokenOf(answer)).toBe('hunter2')
    expect([status, isRestored]).toEqual(['0', true])
    expect(shown).toBe('Password: \r\n')
  })

  it('asks one question after another, and keeps what was typed ahead', async () => {
    const body = `
      const [user, password] = await Promise.all([
        prompt('User: '), prompt('Password: ', { secret: true })])
      return { token: user + '-' + password }`
    const terminal = atTerminal(pluginWith(body))
    await terminal.type(/User: /, 'jane\n')
    await terminal.type(/Password: /, 'pw\r')
    const { shown, answer, isRestored } = await terminal.end()
    expect(tokenOf(answer)).toBe('jane-pw')
    expect(shown).toBe('User: jane\r\nPassword: \r\n')
    expect(isRestored).toBe(true)
  })

  it('shows what is typed again after a secret', async () => {
    const body = `
      await prompt('Password: ', { secret: true })
      return { token: await prompt('User: ') }`
    const terminal = atTerminal(pluginWith(body))
    await terminal.type(/Password: /, 'pw\r')
    await terminal.type(/User: /, 'jane\n')
    expect((await terminal.end()).shown).toBe('Password: \r\nUser: jane\r\n')
  })

  it('uses pasted lines for the next questions', async () => {
    const body = `
      const first = await prompt('One: ', { secret: true })
      return { token: first + '-' + (await prompt('Two: ', { secret: true })) }`
    const terminal = atTerminal(pluginWith(body))
    await terminal.type(/One: /, 'a\rb\r')
    expect(tokenOf((await terminal.end()).answer)).toBe('a-b')
  })

  it.each([
    ['standard input is redirected', '</dev/null'],
    ['standard error is redirected', '2>/dev/null'],
    ['both are redirected', '</dev/null 2>/dev/null'],
  ])('finds the terminal if %s', async (_, redirect) => {
    const terminal = atTerminal(pluginWith(asksForSecret), redirect)
    await terminal.type(/Password: /, 'pw\r')
    const { answer, isRestored } = await terminal.end()
    expect(tokenOf(answer)).toBe('pw')
    expect(isRestored).toBe(true)
  })

  it.each([
    ['Ctrl-C', '\x03', '130', ''],
    ['Ctrl-D', '\x04', '1', 'its input was closed before an answer'],
  ])('leaves the terminal as it was after %s', async (_, key, status, words) => {
    const terminal = atTerminal(pluginWith(asksForSecret))
    await terminal.type(/Password: /, key)
    const ended = await terminal.end()
    expect(ended).toMatchObject({ status, isRestored: true, answer: '' })
    expect(ended.shown).toContain(words)
  })

  it.each([
    ['a signal', "setTimeout(() => process.kill(process.pid, 'SIGTERM'), 100)", '143'],
    ['an exception elsewhere', "setTimeout(() => { throw new Error('x') }, 100)", '1'],
    ['process.exit', 'setTimeout(() => process.exit(5), 100)', '5'],
  ])('leaves the terminal as it was after %s', async (_, trouble, status) => {
    const terminal = atTerminal(pluginWith(`${trouble}; ${asksForSecret}`))
    expect(await terminal.end()).toMatchObject({ status, isRestored: true, answer: '' })
  })

  it('reports Ctrl-D in a question as an error', async () => {
    const terminal = atTerminal(pluginWith("return { token: await prompt('User: ') }"))
    await terminal.type(/User: /, '\x04')
    const { status, shown } = await terminal.end()
    expect(status).toBe('1')
    expect(shown).toContain('its input was closed before an answer')
  })
})

describe('without a terminal, a plugin', () => {
  it('fails at once with the reason when it asks', async () => {
    const { status, out, err } = await runBody("return { token: await prompt('Password: ') }")
    expect([status, out]).toEqual([1, ''])
    expect(err).toMatch(
      /^PluginNeedsTerminalError: .* cannot prompt: the client runs it without a terminal\n/,
    )
    expect(err).toContain('interactiveMode: IfAvailable')
    expect(err).not.toContain('Password')
  })
})
