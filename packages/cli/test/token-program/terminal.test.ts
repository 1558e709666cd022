import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hasScript, onTerminal, quoteWords } from '../../../core/test/fixtures/running-program.ts'
import { Running } from '../spawn-program.ts'
import { AgentHome, answers, execInfo, TOKEN_PROGRAM } from './agent-home.ts'

let home: AgentHome

beforeEach(() => {
  home = new AgentHome()
})
afterEach(() => home.close())

/** A plugin that prompts if it may, and answers with the input. */
const ASKS = `
case "$KUBERNETES_EXEC_INFO" in
*'"interactive":true'*)
  [ -t 0 ] && [ -t 2 ] || { echo 'no terminal' >&2; exit 9; }
  printf 'Password: ' >&2
  IFS= read -r password
  [ "$password" = 'open sesame' ] || { echo 'wrong password' >&2; exit 1; } ;;
*) [ -t 0 ] && { echo 'a terminal, but not interactive' >&2; exit 9; } ;;
esac
${answers('from-a-person')}`

/** A client at a pseudo-terminal: its input is typed, its output is the screen. */
function atTerminal(plugin: string): Running {
  const command = ['env', '-i']
  for (const [name, value] of Object.entries(home.env)) command.push(`${name}=${value}`)
  command.push(`KUBERNETES_EXEC_INFO=${execInfo(true)}`, process.execPath, TOKEN_PROGRAM)
  const line = quoteWords(...command, '--', plugin)
  return new Running(...onTerminal(`cd '${home.folder}'; ${line}; exit $?`))
}

const type = (running: Running, keys: string): void => void running.child.stdin?.write(keys)

describe.skipIf(!hasScript)(
  'a plugin that asks, behind kubecred-token (needs script: apt install bsdutils)',
  () => {
    it('has the terminal; one user answers for all waiting clients', async () => {
      const plugin = home.plugin('p', ASKS)
      const first = atTerminal(plugin)
      await first.until('out', /Password: /)
      const others = [atTerminal(plugin), home.token(['--', plugin])] as const
      await home.until(({ entries }) => entries.some(({ waiting }) => waiting === 3))
      type(first, 'open sesame\r')
      expect(await first.end()).toBe(0)
      expect(await others[0].end()).toBe(0)
      expect(await others[1]).toMatchObject({ status: 0, token: 'from-a-person' })
      for (const { out } of [first, others[0]]) expect(out).toContain('"token":"from-a-person"')
      expect(others[0].out).not.toContain('Password')
      expect(home.runs).toBe(1)
    })

    it('prompts the next user when the first one leaves', async () => {
      const plugin = home.plugin('p', ASKS)
      const first = atTerminal(plugin)
      await first.until('out', /Password: /)
      const second = atTerminal(plugin)
      await home.until(({ entries }) => entries.some(({ waiting }) => waiting === 2))
      type(first, '\x03')
      expect(await first.end()).not.toBe(0)
      await second.until('out', /Password: /)
      type(second, 'open sesame\r')
      expect(await second.end()).toBe(0)
    })

    it('starts over at once after the only user left', async () => {
      const plugin = home.plugin('p', ASKS)
      const first = atTerminal(plugin)
      await first.until('out', /Password: /)
      type(first, '\x03')
      await first.end()
      const second = atTerminal(plugin)
      await second.until('out', /Password: /)
      type(second, 'open sesame\r')
      expect(await second.end()).toBe(0)
    })

    it('fails with its own exit status, and its standard error is shown once', async () => {
      const running = atTerminal(home.plugin('p', ASKS))
      await running.until('out', /Password: /)
      type(running, 'guess\r')
      expect(await running.end()).toBe(1)
      expect(running.out.match(/wrong password/g)).toHaveLength(1)
      expect(running.out).toContain('failed with exit code 1')
    })

    it('does not prompt twice if the agent dies meanwhile', async () => {
      const running = atTerminal(home.plugin('p', ASKS))
      await running.until('out', /Password: /)
      const { pid } = await home.until(({ entries }) => entries.length === 1)
      process.kill(pid, 'SIGKILL')
      writeFileSync(home.path('unused'), '')
      type(running, 'open sesame\r')
      expect(await running.end()).toBe(0)
      expect(running.out).toContain('"token":"from-a-person"')
      expect(home.runs).toBe(1)
    })
  },
)
