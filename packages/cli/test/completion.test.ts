import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { VERSION } from 'kubecred'
import { afterAll, describe, expect, it } from 'vitest'
import { COMMANDS } from '../src/command-table.ts'
import { completionScript, SHELLS } from '../src/completion/shells.ts'
import { manPage } from '../src/render/man-page.ts'
import { runFake } from './run-fake.ts'

const folder = mkdtempSync(join(tmpdir(), 'kubecred-completion-'))
afterAll(() => rmSync(folder, { recursive: true }))

function isThere(shell: string): boolean {
  return spawnSync(shell, ['--version']).status === 0
}

/** Completes a line in a real bash. */
function complete(words: readonly string[]): string[] {
  const script = join(folder, 'completion.bash')
  writeFileSync(script, completionScript('bash', COMMANDS))
  const line = words.map((word) => `'${word}'`).join(' ')
  const ask = `kubecred() { echo dev; echo prod; }
. ${script}
COMP_WORDS=(kubecred ${line}); COMP_CWORD=${words.length}; _kubecred; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', ask], { encoding: 'utf8' })
  expect(stderr).toBe('')
  return stdout.split('\n').filter((word) => word !== '')
}

describe('completion', () => {
  it.skipIf(!isThere('bash'))('offers commands, then their flags, in a real bash', () => {
    expect(complete(['do'])).toEqual(['doctor'])
    expect(complete(['fetch', '--inc'])).toEqual(['--include'])
    expect(complete(['whoami', '--inc'])).toEqual([])
    expect(complete(['whoami', '--context', 'p'])).toEqual(['prod'])
    expect(complete(['--context', ''])).toEqual(['dev', 'prod'])
  })

  it.each(SHELLS)('includes every command for %s', (shell) => {
    const script = completionScript(shell, COMMANDS)
    for (const { name } of COMMANDS) expect(script).toContain(name)
  })

  // Syntax only, and only if the shell is installed: the behaviour is tested with bash.
  for (const [shell, flag] of [
    ['zsh', '-n'],
    ['fish', '--no-execute'],
  ] as const) {
    it.skipIf(!isThere(shell))(`is valid ${shell}`, () => {
      const script = join(folder, `completion.${shell}`)
      writeFileSync(script, completionScript(shell, COMMANDS))
      const { stderr, status } = spawnSync(shell, [flag, script], { encoding: 'utf8' })
      expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
    })
  }

  it('lists contexts that need no quoting', async () => {
    const kubeconfig = join(folder, 'config')
    const contexts = ['dev', 'a b', '$(reboot)', 'arn:aws:eks:eu-west-1:1:cluster/x'].map(
      (name) => ({ name, context: { cluster: 'c', user: 'u' } }),
    )
    writeFileSync(kubeconfig, JSON.stringify({ contexts }))
    const { out } = await runFake(['completion', 'contexts', '--kubeconfig', kubeconfig])
    expect(out).toBe('dev\narn:aws:eks:eu-west-1:1:cluster/x\n')
  })

  it('names the supported shells', async () => {
    const { status, err } = await runFake(['completion', 'tcsh'])
    expect(status).toBe(2)
    expect(err).toContain('completion takes bash, zsh, fish, not "tcsh"')
  })
})

it('the manual page matches the table of commands', () => {
  const path = fileURLToPath(new URL('../man/kubecred.1', import.meta.url))
  expect(readFileSync(path, 'utf8')).toBe(manPage(COMMANDS, VERSION))
})
