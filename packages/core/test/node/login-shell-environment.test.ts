import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type LoginShellOptions, loginShellEnvironment } from '../../src/index.ts'
import { LOGIN_SHELL_NAMES } from '../../src/node/login-shell-environment.ts'
import { isRunning } from '../fixtures/processes.ts'

let folder = ''
let homes = 0
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubecred-shell-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Returns an environment whose home folder has these files. */
function home(files: Readonly<Record<string, string>>, env: Record<string, string> = {}) {
  homes += 1
  const path = join(folder, String(homes))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(path, name, '..'), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  return { HOME: path, PATH: '/usr/bin:/bin', ...env }
}

/** Runs bash with this text as its start-up file. */
function bash(text: string, { env = {}, ...options }: LoginShellOptions = {}) {
  const variables = home({ '.bash_profile': text }, env as Record<string, string>)
  return loginShellEnvironment({ shell: '/bin/bash', ...options, env: variables })
}

/** Debian has zsh, fish and tcsh in packages of these names, which tools/system-packages.mjs installs. */
const pathOf = (name: string): string =>
  [`/bin/${name}`, `/usr/bin/${name}`].find((path) => existsSync(path)) ?? name

/** Each shell that is a login shell somewhere, with the start-up files that add to PATH. */
const SHELLS = [
  ['sh', { '.profile': 'PATH="$PATH:/one"; export PATH' }, '/one'],
  ['bash', { '.bash_profile': '. ~/.bashrc', '.bashrc': 'PATH+=:/one' }, '/one'],
  [
    'zsh',
    { '.zprofile': 'path+=/one', '.zshrc': 'path+=/two', '.zshenv': 'setopt noglobalrcs' },
    '/one:/two',
  ],
  ['fish', { '.config/fish/config.fish': 'set -gx PATH $PATH /usr/lib' }, '/usr/lib'],
  [
    'tcsh',
    { '.tcshrc': 'set path = ($path /one)', '.login': 'set path = ($path /two)' },
    '/one:/two',
  ],
] as const

describe.skipIf(process.platform === 'win32')('the environment of a login shell', () => {
  for (const [name, files, added] of SHELLS) {
    const shell = pathOf(name)
    it.skipIf(shell === name)(`has the PATH that ${name} sets`, async () => {
      const { PATH } = await loginShellEnvironment({ shell, env: home(files) })
      expect(PATH?.endsWith(`:${added}`), PATH).toBe(true)
    })
  }

  it('has the variables of the list and the named ones, and no others', async () => {
    const files = 'export AWS_PROFILE=work SECRET=s3cret SSH_AUTH_SOCK=/a LANG='
    expect(await bash(files)).not.toHaveProperty('SSH_AUTH_SOCK')
    const found = await bash(files, { names: ['SSH_AUTH_SOCK'] })
    expect(found).toMatchObject({ AWS_PROFILE: 'work', SSH_AUTH_SOCK: '/a', LANG: '' })
    expect(found).not.toHaveProperty('SECRET')
    expect(Object.keys(found)).not.toContain('KUBECRED_LOGIN_SHELL')
  })

  it('keeps what the process has, except PATH and the named ones', async () => {
    const env = { MINE: 'a', AWS_PROFILE: 'mine', AWS_REGION: '' }
    const files = 'unset MINE; export AWS_PROFILE=work AWS_REGION=eu LANG=C PATH=/one:/bin'
    expect(await bash(files, { env })).toMatchObject({ ...env, LANG: 'C', PATH: '/one:/bin' })
    const names = ['AWS_PROFILE', 'MINE']
    expect(await bash(files, { env, names })).toMatchObject({ MINE: 'a', AWS_PROFILE: 'work' })
  })

  it.each([
    ['line breaks and equals signs', 'a\nPATH=/evil\n=b'],
    ['quotes and what a shell would expand', `'"$(id) \`id\` $HOME * \\0 %s`],
    ['other writing', 'größe/日本'],
  ])('keeps %s in a value', async (_, value) => {
    const quoted = `'${value.replaceAll("'", `'\\''`)}'`
    const found = await bash(`export AWS_PROFILE=${quoted}`)
    expect(found['AWS_PROFILE']).toBe(value)
    expect(found['PATH']).not.toContain('/evil')
  })

  it('is not disturbed by greetings, a trace of our own command and exported functions', async () => {
    const noise = `echo 'Welcome!'; printf 'PATH=/evil\\0'; exec 2>&1
      printf() { echo mine; }; export -f printf; PATH+=:/one
      trap 'echo Goodbye' EXIT; echo "$BASH_EXECUTION_STRING"; set -x; export SHELLOPTS`
    expect((await bash(noise))['PATH']).toMatch(/:\/bin:\/one$/)
  })

  it('is read without standard input and without a terminal', async () => {
    const asks = `read -r line && export AWS_PROFILE="$line"
      (: </dev/tty) 2>/dev/null && export AWS_REGION=terminal`
    const found = await bash(asks)
    expect(found).not.toHaveProperty('AWS_PROFILE')
    expect(found).not.toHaveProperty('AWS_REGION')
  })

  it('is not read again by a program that the start-up files start', async () => {
    const env = { KUBECRED_LOGIN_SHELL: '1', PATH: '/one' }
    expect(await loginShellEnvironment({ shell: '/bin/false', env })).toEqual(env)
  })

  it('does not give the shell the PIN of a signer', async () => {
    const env = { KUBECRED_PKCS11_PIN: '123456' }
    const found = await bash('export AWS_PROFILE="pin:$KUBECRED_PKCS11_PIN"', { env })
    expect(found).toMatchObject({ AWS_PROFILE: 'pin:', KUBECRED_PKCS11_PIN: '123456' })
  })

  it('does not wait for a program that the start-up files leave running', async () => {
    const found = await bash('sleep 60 & echo $! > ~/pid')
    const pid = Number(readFileSync(join(found['HOME'] ?? '', 'pid'), 'utf8'))
    expect(process.kill(pid, 'SIGKILL')).toBe(true)
  })
})

it('docs/desktop.md lists the variables that are taken', () => {
  const page = readFileSync(new URL('../../../../docs/desktop.md', import.meta.url), 'utf8')
  const table = page.split('\n').filter((line) => /^\| .*\| `/.test(line))
  const listed = table.flatMap((line) => [...line.matchAll(/`(\w+)`/g)].map(([, name]) => name))
  expect(['PATH', ...listed].sort()).toEqual([...LOGIN_SHELL_NAMES].sort())
})

describe.skipIf(process.platform === 'win32')('it is an error', () => {
  const failing = (options: LoginShellOptions) =>
    expect(loginShellEnvironment({ env: {}, ...options })).rejects
  const error = (message: RegExp) => ({
    code: 'ERR_LOGIN_SHELL',
    message: expect.stringMatching(message) as string,
  })

  // An interactive bash ignores SIGTERM.
  for (const [name, file, text] of [
    ['bash', '.bash_profile', 'echo $$ > ~/pid; while :; do sleep 1; done'],
    ['bash', '.bashrc', 'echo $$ > ~/pid; while :; do sleep 1; done'],
    ['zsh', '.zshrc', 'sh -c "echo \\$\\$ > ~/pid; exec sleep 60"'],
    ['fish', '.config/fish/config.fish', 'sh -c "echo \\$\\$ > ~/pid; exec sleep 60"'],
  ] as const) {
    const shell = pathOf(name)
    it.skipIf(shell === name).concurrent(
      `if ${file} of ${name} does not end, which is stopped`,
      async () => {
        const env = home({ '.bash_profile': '. ~/.bashrc', [file]: text })
        await failing({ shell, env }).toMatchObject(error(/did not finish .* within 5 s/))
        const pid = Number(readFileSync(join(env.HOME, 'pid'), 'utf8'))
        await vi.waitFor(() => expect(isRunning(pid)).toBe(false))
      },
      30_000,
    )
  }

  it.each([
    ['closes standard output', 'exec >&-', /status .* did not report/],
    ['ends the shell', 'exit 3', /status 3 and did not report/],
    ['starts another program instead', 'exec /bin/echo hello', /did not report/],
    ['prints without end', 'yes', /printed more than 1048576 bytes/],
    ['is killed', 'kill -9 $$', /was ended by SIGKILL/],
  ])('if a start-up file %s', async (_, text, message) => {
    await failing({ shell: '/bin/bash', env: home({ '.bash_profile': text }) }).toMatchObject(
      error(message),
    )
  })

  it.each([
    ['is no shell', pathOf('false'), /\/false" ended with status 1/],
    ['does not exist', '/no/such/shell', /does not exist/],
    ['is a folder', '/tmp', /cannot run: it is a folder/],
    ['is a name', 'bash', /is not an absolute path/],
  ])('if the shell %s', async (_, shell, message) => {
    await failing({ shell }).toMatchObject(error(message))
  })

  it('if the names are more than names', async () => {
    for (const name of ['A B', 'A;id', '$(id)', "A'", '', '1A', 'A\n', 7 as unknown as string]) {
      await failing({ shell: '/bin/sh', names: [name] }).toThrow(TypeError)
    }
  })

  it('if the caller aborts it', async () => {
    const reason = new Error('enough')
    const controller = new AbortController()
    const env = home({ '.bash_profile': 'sleep 60' })
    const reading = failing({ shell: '/bin/bash', env, signal: controller.signal }).toBe(reason)
    controller.abort(reason)
    await reading
  })

  it('and its message has nothing that the shell printed', async () => {
    const env = home({ '.bash_profile': 'echo s3cret; echo s3cret >&2; exit 1' })
    const failed = await loginShellEnvironment({ shell: '/bin/bash', env }).catch(String)
    expect(failed).toContain('did not report')
    expect(failed).not.toContain('s3cret')
  })
})
