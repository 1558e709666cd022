import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../src/command-table.ts'
import { GLOBAL_FLAGS } from '../src/flags/flag-table.ts'
import { runFake } from './run-fake.ts'

describe('the program', () => {
  it('shows its help without a command', async () => {
    const alone = await runFake([])
    expect(alone.status).toBe(0)
    expect(alone.out).toContain('Usage: kubecred COMMAND')
    for (const argv of [['help'], ['--help'], ['-h']]) expect(await runFake(argv)).toEqual(alone)
  })

  it('shows the help of a command in three ways', async () => {
    const long = await runFake(['fetch', '--help'])
    expect(long.out).toContain('Usage: kubecred fetch PATH')
    expect(await runFake(['help', 'fetch'])).toEqual(long)
    expect(await runFake(['-h', 'fetch', '/x'])).toEqual(long)
  })

  it('lists the global flags with options, and only there', async () => {
    const { out } = await runFake(['options'])
    for (const name of GLOBAL_FLAGS) expect(out).toContain(name === 'v' ? '  -v ' : `--${name} `)
    for (const { name } of COMMANDS) {
      const { out: help } = await runFake([name, '--help'])
      expect(help).toMatch(/\nUse "kubecred options" for a list of global flags[^\n]*\n$/)
      expect(help).not.toContain('--insecure-skip-tls-verify')
    }
  })

  it('lists the flags that status and wrap accept', async () => {
    const { out: status } = await runFake(['status', '--help'])
    for (const flag of ['--run', '-w, --watch', '-o, --output', '--kubeconfig FILE']) {
      expect(status).toContain(flag)
    }
    const { out: wrap } = await runFake(['wrap', '--help'])
    for (const flag of ['--undo', '--ttl TIME', '--context NAME', '--plugin-env LIST']) {
      expect(wrap).toContain(flag)
    }
  })

  it('names the package of the demo in one line', async () => {
    expect(await runFake(['demo', '--no-open'])).toMatchObject({
      status: 2,
      out: '',
      err: 'kubecred: the demo is a separate package; run: npx @kubecred/demo\n',
    })
  })

  it.each([
    [['fecth'], 'unknown command "fecth"; did you mean fetch?', '--help'],
    [
      ['fetch', '--kubeconfg', 'x'],
      'unknown flag --kubeconfg; did you mean --kubeconfig?',
      'fetch --help',
    ],
    [['deploy'], 'unknown command "deploy"', '--help'],
    [['help', 'whomai'], 'unknown command "whomai"; did you mean whoami?', '--help'],
    [['fetch'], 'fetch needs PATH', 'fetch --help'],
    [['whoami', 'x'], 'unexpected argument "x"', 'whoami --help'],
    [['fetch', '/x', '-v', '2'], 'unexpected argument "2"; did you mean -v=2?', 'fetch --help'],
    [['whoami', '-d', 'x'], 'whoami has no flag --data (-d)', 'whoami --help'],
    [['whoami', '-o', 'yaml'], 'flag -o takes json, not "yaml"', 'whoami --help'],
    [['whoami', '--timeout', 'soon'], 'flag --timeout takes seconds', 'whoami --help'],
    [['whoami', '--as-user-extra', 'x'], 'flag --as-user-extra takes KEY=VALUE', 'whoami --help'],
  ])('rejects %j with status 2, one reason and the help to read', async (argv, reason, help) => {
    const { status, out, err } = await runFake(argv)
    expect({ status, out }).toEqual({ status: 2, out: '' })
    const [first, second, rest] = err.split('\n')
    expect(first).toContain(`kubecred: ${reason}`)
    expect(second).toBe(`Try 'kubecred ${help}'`)
    expect(rest).toBe('')
  })

  it('has the version of its package', async () => {
    const manifest = new URL('../package.json', import.meta.url)
    const { version } = JSON.parse(readFileSync(manifest, 'utf8'))
    const text = await runFake(['version'])
    expect(text.out).toBe(`kubecred ${version} (node v20.0.0)\n`)
    expect(await runFake(['--version'])).toEqual(text)
    const json = await runFake(['version', '-o', 'json'])
    expect(JSON.parse(json.out)).toEqual({ version, node: 'v20.0.0' })
  })

  it('keeps every line of help within 100 columns and describes every command', async () => {
    for (const { name, summary } of COMMANDS) {
      const { out } = await runFake(['help', name])
      expect(out).toContain(`${summary}.`)
      for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(100)
    }
  })
})
