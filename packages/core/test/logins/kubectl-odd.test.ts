// A program in the place of kubectl that does what no kubectl should.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type KubectlLoginOptions, loginViaKubectl } from 'kubecred/logins'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectNoLeak } from '../fixtures/no-leak.ts'
import { isRunning } from '../fixtures/processes.ts'
import { CONTEXT, loggingContext, oneContext, ProgramFolder } from './scene.ts'

const SECRET = 's3cret-71c0-82d1-93e2'

let program: ProgramFolder
beforeEach(() => {
  program = new ProgramFolder()
})
afterEach(() => program[Symbol.dispose]())

/** Puts a script at the place of kubectl, and logs in by it. */
function log(script: string, options: KubectlLoginOptions = {}, context = CONTEXT) {
  const command = program.write('kubectl', `#!${process.execPath}\n${script}\n`, 0o700)
  return loginViaKubectl(context, { command, env: { HOME: program.folder }, ...options })
}

const print = (text: string): string => `process.stdout.write(${JSON.stringify(text)})`

describe('the output of kubectl', () => {
  it.each([
    ['nothing', '', /printed nothing$/],
    ['garbage', `token: ${SECRET}`, /printed something that is not a kubeconfig: syntax error/],
    ['half of it', `{"users": [{"user": {"token": "${SECRET}`, /unexpected end of JSON input/],
    [
      'something else',
      `["${SECRET}"]`,
      /printed something that is not a kubeconfig: the document must be a mapping/,
    ],
    ['another manifest', `{"kind": "Secret", "data": {"x": "${SECRET}"}}`, /kind must be "Config"/],
    [
      'wrong types',
      `{"users": [{"name": "u", "user": {"token": ["${SECRET}"]}}]}`,
      /token must be a string/,
    ],
  ])('is an error that does not quote it: %s', async (_, printed, reason) => {
    const error = await log(print(printed)).catch((it) => it)
    expect(error).toMatchObject({
      code: 'ERR_LOGIN_TOOL_FAILED',
      message: expect.stringMatching(reason),
      hint: expect.stringContaining('in a terminal'),
    })
    expectNoLeak([error], [SECRET])
  })

  it('is an error if it is not text', async () => {
    const script = `process.stdout.write(Buffer.from([0x7b, 0xff, 0xfe, 0x00]))`
    await expect(log(script)).rejects.toThrow(
      /printed something that is not a kubeconfig: it is not UTF-8 text/,
    )
  })

  it('is an error if it is too large, and the program is stopped', async () => {
    const script = `const more = () => process.stdout.write('x'.repeat(1 << 20), more); more()`
    await expect(log(script)).rejects.toThrow(/printed more than 8388608 bytes and was stopped$/)
  })

  it('is read without a shell, with the file as a separate argument', async () => {
    const script = `require('node:fs').writeFileSync(__dirname + '/args', JSON.stringify(process.argv.slice(2)))
      ${print(JSON.stringify(oneContext({ server: 'https://one' }, {})))}`
    const info = await log(script, { kubeconfig: '/k; touch x $(y)' })
    expect(info?.server).toBe('https://one')
    const args = JSON.parse(readFileSync(join(program.folder, 'args'), 'utf8'))
    expect(args).toEqual([
      '--kubeconfig=/k; touch x $(y)',
      'config',
      'view',
      '--raw',
      '--output=json',
    ])
  })

  it.each([
    ['pathExec', './bin/signer'],
    ['pathSocket', 'run/signer'],
  ])('does not resolve a relative %s against the current folder', async (name, path) => {
    const config = { [name]: path, pin: '4711471' }
    const user = { 'auth-provider': { name: 'externalSigner', config } }
    const content = JSON.stringify(oneContext({ server: 'https://one' }, user))
    const error = await log(print(content)).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'ERR_LOGIN_TOOL_FAILED' })
    expect(String(error)).not.toContain('4711471')
  })

  it('is an error if a path is relative and its file is unknown', async () => {
    const user = { tokenFile: 'token' }
    const content = JSON.stringify(oneContext({ server: 'https://one' }, user))
    await expect(log(print(content))).rejects.toMatchObject({
      code: 'ERR_LOGIN_TOOL_FAILED',
      message: expect.stringMatching(/printed a relative path for user "u"/),
    })
    // Another entry of that name is not where it came from.
    program.kubeconfig(
      '.kube/config',
      oneContext({ server: 'https://one' }, { ...user, as: 'other' }),
    )
    await expect(log(print(content))).rejects.toMatchObject({ code: 'ERR_LOGIN_TOOL_FAILED' })
    program.kubeconfig('.kube/config', oneContext({ server: 'https://one' }, user))
    const info = await log(print(content))
    expect(info?.login.connection.user.tokenFile).toBe(join(program.folder, '.kube/token'))
  })
})

describe('kubectl', () => {
  it('that exits with a status is an error with the last line of stderr, scrubbed', async () => {
    const script = `${print(SECRET)}
      process.stderr.write('one\\n\\x1b[31mtwo token=${SECRET}\\n')
      process.exitCode = 3`
    const error = await log(script).catch((it) => it)
    expect(error.message).toMatch(/failed with exit code 3: U\+001B\[31mtwo token=\[secret\]$/)
    expect(error.stderrTail).toMatch(/^one\n/)
    expectNoLeak([error], [SECRET])
  })

  it.each([
    [
      'until 1.22',
      `AuthInfo.Token: found [, error found in #10 byte of ...|ken":["${SECRET.slice(0, 9)}|..., bigger context ...|{"user":{"token":["${SECRET}"]}}|...`,
      /error found in #10 byte of …$/,
    ],
    ['cut off', `${SECRET.slice(5)}"]}}|...`, /exit code 1$/],
    ['an anchor', `yaml: unknown anchor '${SECRET}' referenced`, /unknown anchor '…' referenced$/],
    ['a value', `line 3: cannot unmarshal !!str \`${SECRET}\` into int`, /!!str `…` into int$/],
  ])('has its quotations of the kubeconfig removed from stderr (%s)', async (_, said, shown) => {
    const script = `process.stderr.write(${JSON.stringify(said)}); process.exitCode = 1`
    const error = await log(script).catch((it) => it)
    expect(error.message).toMatch(shown)
    expectNoLeak([error], [SECRET])
  })

  it('that is killed is an error', async () => {
    const script = `process.kill(process.pid, 'SIGKILL')`
    await expect(log(script)).rejects.toThrow(/was ended by SIGKILL$/)
  })

  it('that never ends is stopped, with its children', async () => {
    const script = `const { pid } = require('node:child_process').spawn('sleep', ['600'])
      require('node:fs').writeFileSync(__dirname + '/pid', String(pid))
      setInterval(() => {}, 1000)`
    await expect(log(script, { timeoutMs: 1500 })).rejects.toThrow(/did not answer within 1500 ms/)
    const pid = Number(readFileSync(join(program.folder, 'pid'), 'utf8'))
    await expect.poll(() => isRunning(pid)).toBe(false)
  })

  it('is stopped at once by an abort', async () => {
    const pidFile = join(program.folder, 'pid')
    const controller = new AbortController()
    const { signal } = controller
    const script = `require('node:fs').writeFileSync(__dirname + '/pid', String(process.pid))
      setInterval(() => {}, 1000)`
    const login = log(script, {}, { signal })
    login.catch(() => {})
    await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8')).toMatch(/^\d+$/)
    controller.abort(new Error('enough'))
    await expect(login).rejects.toThrow('enough')
    await expect.poll(() => isRunning(Number(readFileSync(pidFile, 'utf8')))).toBe(false)
    await expect(log(script, {}, { signal })).rejects.toThrow('enough')
  })

  it('that cannot be run is an error', async () => {
    const command = program.write('kubectl', 'no program', 0o600)
    await expect(loginViaKubectl(CONTEXT, { command })).rejects.toMatchObject({
      code: 'ERR_LOGIN_TOOL_FAILED',
      message: expect.stringMatching(/cannot run: permission denied/),
    })
    const other = program.write('other', '#!/nowhere/interpreter\n', 0o700)
    await expect(loginViaKubectl(CONTEXT, { command: other })).rejects.toMatchObject({
      code: 'ERR_LOGIN_TOOL_FAILED',
      message: expect.stringMatching(/cannot start: ENOENT/),
    })
  })
})

it('a kubectl that every user can change is used with a warning', async () => {
  const context = loggingContext()
  const { chmodSync } = await import('node:fs')
  const content = print(JSON.stringify(oneContext({ server: 'https://one' }, {})))
  const command = program.write('kubectl', `#!${process.execPath}\n${content}`)
  chmodSync(command, 0o777)
  await loginViaKubectl(context, { command, env: {} })
  expect(context.lines).toEqual([expect.stringContaining('can be changed by every user')])
})
