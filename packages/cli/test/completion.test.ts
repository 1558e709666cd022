import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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

/** Completes a line in a real bash, with these contexts. */
function complete(words: readonly string[], contexts = ['dev', 'prod']): string[] {
  const script = join(folder, 'completion.bash')
  writeFileSync(script, completionScript('bash', COMMANDS))
  const names = join(folder, 'names')
  writeFileSync(names, contexts.map((name) => `${name}\n`).join(''))
  const line = words.map((word) => `'${word}'`).join(' ')
  const ask = `kubecred() { cat ${names}; }
. ${script}
COMP_WORDS=(kubecred ${line}); COMP_CWORD=${words.length}; _kubecred; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', ask], {
    encoding: 'utf8',
    cwd: folder,
  })
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

  it.skipIf(!isThere('bash'))('neither runs nor expands the names of contexts in bash', () => {
    const names = ['<(echo>ran)', '$(echo>ran)', '`echo>ran`', 'a{b,c}', '*', '~root', '$HOME']
    expect(complete(['whoami', '--context', ''], names)).toEqual(names)
    expect(complete(['whoami', '--context', '<'], names)).toEqual(['<(echo>ran)'])
    expect(complete(['whoami', '--context', '*'], names)).toEqual(['*'])
    expect(existsSync(join(folder, 'ran'))).toBe(false)
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

  it('lists no context whose name could mean something to a shell or a terminal', async () => {
    const good = [
      'kind-1',
      'admin@cluster.local',
      'gke_p_europe-west1_c',
      'zürich',
      '東京',
      '__proto__',
    ]
    const hostile = [
      ...['<(reboot)', '>(reboot)', ';reboot', 'a|b', 'a&b', '~', '*', '{a,b}', '!x', '#x', 'a;b'],
      ...['-x', '--kuberc=/evil', '\u001b[2J', 'a\u202eb', 'a\u0007', 'a\u2028b', '%(x)', '=(x)'],
    ]
    const kubeconfig = join(folder, 'hostile')
    const contexts = [...hostile, ...good].map((name) => ({
      name,
      context: { cluster: 'c', user: 'u' },
    }))
    // Unescaped, this character would make the whole file invalid.
    writeFileSync(kubeconfig, JSON.stringify({ contexts }).replaceAll('\u2028', '\\u2028'))
    const { out } = await runFake(['completion', 'contexts', '--kubeconfig', kubeconfig])
    expect(out.trim().split('\n').sort()).toEqual([...good].sort())
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
