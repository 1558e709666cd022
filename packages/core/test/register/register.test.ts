import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, it } from 'vitest'
import { isRunning } from '../fixtures/processes.ts'
import {
  hasScript,
  NEEDS_SCRIPT,
  onTerminal,
  quoteWords,
  RunningProgram,
} from '../fixtures/running-program.ts'
import { ASK, IMPORT, MODULE, RegisterScene } from './register-scene.ts'

const scene = new RegisterScene()
const { execPath } = process

describe('with kubecred/register, a program', () => {
  it.each([
    ['that is CommonJS', IMPORT, ''],
    ['that is a module', [...IMPORT, '--input-type=module'], ''],
    ['with --require', ['--require', 'kubecred/register'], ''],
    ['that imports it', ['--input-type=module'], "import 'kubecred/register';"],
  ])('%s reaches the server through its own proxy', async (_, before, first) => {
    const script = `${first} ${ASK} ask().then((text) => console.log(JSON.parse(text).gitVersion))`
    const ended = await scene.run(script, {}, before)
    expect(ended).toEqual({ status: 0, out: expect.stringMatching(/^200\nv1\..*\n$/), err: '' })
    expect(scene.leftovers()).toEqual([])
  })

  it('has an environment like that of a command of kubecred run', async () => {
    const script = 'console.log(JSON.stringify(process.env))'
    const { out } = await scene.run(script, {
      NO_PROXY: 'corp.example',
      OWN: 'value',
      KUBECRED_PKCS11_PIN: 'marked-pin',
    })
    const env = JSON.parse(out)
    expect(env).toMatchObject({ OWN: 'value', NO_PROXY: 'corp.example,127.0.0.1,localhost' })
    expect(env.KUBECONFIG).toContain(join(scene.folder, 'kubecred', 'register-'))
    expect(env.KUBECRED_SERVER).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    expect(out).not.toContain('marked-pin')
  })

  it('keeps its files private, and the token out of them', async () => {
    const script = `
      const { dirname } = require('node:path')
      const { readFileSync, statSync } = require('node:fs')
      const { KUBECONFIG } = process.env
      for (const path of [dirname(KUBECONFIG), KUBECONFIG]) console.log((statSync(path).mode & 0o777).toString(8))
      console.log(readFileSync(KUBECONFIG, 'utf8'))`
    const { out } = await scene.run(script)
    const [folder, file, ...config] = out.split('\n')
    expect({ folder, file }).toEqual({ folder: '700', file: '600' })
    const made = JSON.parse(config.join(''))
    const [token] = readFileSync(scene.kubeconfig, 'utf8').match(/(?<="token": ?")[^"]+/) ?? []
    expect(made['current-context']).toBe('sandbox')
    expect(made.users[0].user.token).toMatch(/^[\w-]{43}$/)
    expect(made.users[0].user.token).not.toBe(token)
    expect(token).toBeDefined()
  })

  it('can block its main thread until a child has an answer', async () => {
    const script = `require('node:child_process').execFileSync(process.execPath, ['-e', ${JSON.stringify(`${ASK} ask()`)}], { stdio: 'inherit' })`
    expect(await scene.run(script)).toEqual({ status: 0, out: '200\n', err: '' })
  })

  it('shares its proxy with its worker threads and with child Nodes', async () => {
    const show = 'console.log(process.env.KUBECRED_SERVER)'
    const child = `require('node:child_process').execFileSync`
    const script = `
      ${show}
      const options = { stdio: 'inherit' }
      ${child}(process.execPath, [...process.execArgv.slice(0, 2), '-e', ${JSON.stringify(show)}], options)
      const env = { ...process.env, NODE_OPTIONS: '--import kubecred/register' }
      ${child}(process.execPath, ['-e', ${JSON.stringify(show)}], { ...options, env })
      const { readdirSync } = require('node:fs')
      const folder = process.env.XDG_RUNTIME_DIR + '/kubecred'
      new (require('node:worker_threads').Worker)(${JSON.stringify(show)}, { eval: true })
        .on('exit', () => console.log(readdirSync(folder).length))`
    const { status, out } = await scene.run(script)
    const [first = '', ...others] = out.trimEnd().split('\n')
    expect(status).toBe(0)
    expect(first).toMatch(/^https:/)
    expect(others).toEqual([first, first, first, '1'])
  })

  it('uses the context that KUBECRED_CONTEXT names', async () => {
    const config = JSON.parse(readFileSync(scene.kubeconfig, 'utf8'))
    config.contexts.push({ ...config.contexts[0], name: 'other' })
    const KUBECONFIG = join(scene.folder, 'config')
    writeFileSync(KUBECONFIG, JSON.stringify(config))
    const script = `${ASK} ask(); console.log(JSON.parse(readFileSync(process.env.KUBECONFIG))['current-context'])`
    const { out } = await scene.run(script, { KUBECONFIG, KUBECRED_CONTEXT: 'other' })
    expect(out).toBe('other\n200\n')
    const { status, err } = await scene.run('', { KUBECONFIG, KUBECRED_CONTEXT: 'none' })
    expect(status).toBe(15)
    expect(err).toContain('context "none", named by KUBECRED_CONTEXT, does not exist')
  })
})

describe('the end of a program with kubecred/register', () => {
  it.each([
    ['when nothing is left to do', '', { status: 0 }],
    ['by process.exit', 'process.exit(7)', { status: 7 }],
    ['by process.exitCode', 'process.exitCode = 8', { status: 8 }],
    ['by an exception', "throw new Error('thrown')", { status: 1 }],
    ['by a rejection', "Promise.reject(new Error('thrown'))", { status: 1 }],
    [
      'by its own listener of a signal',
      "process.on('SIGTERM', () => process.exit(9)); process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000)",
      { status: 9 },
    ],
  ])('%s is as without it, and nothing is left', async (_, script, ending) => {
    expect(await scene.run(script, {}, [])).toMatchObject(ending)
    expect(await scene.run(script)).toMatchObject(ending)
    expect(scene.leftovers()).toEqual([])
  })

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'] as const)(
    'by %s is as without it, also if it blocks its main thread; the next start removes what is left',
    async (signal) => {
      const program = scene.start([...IMPORT, '-e', "console.log('ready'); for (;;);"])
      await program.until('out', /ready/)
      program.child.kill(signal)
      await program.ended()
      expect(program.child.signalCode).toBe(signal)
      expect(scene.leftovers()).toHaveLength(1)
      expect(await scene.run('')).toMatchObject({ status: 0 })
      expect(scene.leftovers()).toEqual([])
    },
  )

  it('ends a plugin that runs', async () => {
    // The server refuses the first token, so that the plugin runs again.
    const KUBECONFIG = scene.plugin(
      '[ $run = 1 ] && answer unknown || { echo $$ > pid; exec sleep 600; }',
    )
    const pid = join(scene.folder, 'pid')
    const script = `${ASK} ask(); setInterval(() => { if (require('node:fs').existsSync(${JSON.stringify(pid)})) process.exit(0) }, 20)`
    expect(await scene.run(script, { KUBECONFIG })).toMatchObject({ status: 0 })
    const killed = Number(readFileSync(pid, 'utf8'))
    expect(killed).toBeGreaterThan(0)
    expect(isRunning(killed)).toBe(false)
  })

  it('leaves children that go on without a proxy, and new ones say so', async () => {
    const late = `console.log('not reached')`
    const script = `
      const env = { ...process.env, NODE_OPTIONS: '--import kubecred/register' }
      console.log(JSON.stringify(env))`
    const { out } = await scene.run(script)
    const { KUBECONFIG, KUBECRED_CA } = JSON.parse(out)
    const ended = await scene.run(late, { KUBECONFIG, KUBECRED_CA })
    expect(ended).toMatchObject({ status: 2, out: '' })
    expect(ended.err).toContain(`${JSON.stringify(KUBECONFIG)} does not exist: the program`)
  })
})

describe('a program with kubecred/register does not start', () => {
  const NEVER = "console.log('started')"

  it('without a configuration, with the reason', async () => {
    const ended = await scene.run(NEVER, { KUBECONFIG: join(scene.folder, 'none') })
    expect(ended).toMatchObject({ status: 14, out: '' })
    expect(ended.err).toMatch(/^kubecred: no cluster is configured \(KUBECONFIG names only files/)
    expect(ended.err).toContain('\nSet KUBECONFIG.\n(ERR_KUBECONFIG_EMPTY)')
  })

  it('if the plugin fails, with what the plugin wrote', async () => {
    const KUBECONFIG = scene.plugin('echo "please log in" >&2; exit 3')
    const ended = await scene.run(NEVER, { KUBECONFIG })
    expect(ended).toMatchObject({ status: 33, out: '' })
    expect(ended.err).toMatch(/^please log in\nkubecred: /)
    expect(scene.leftovers()).toEqual([])
  })

  it('without a thread', async () => {
    // Node 20 has the older name of the flag.
    const flag = process.allowedNodeEnvironmentFlags.has('--permission') ? '' : 'experimental-'
    const before = [`--${flag}permission`, '--allow-fs-read=*', ...IMPORT]
    const ended = await scene.run(NEVER, { NODE_NO_WARNINGS: '1' }, before)
    expect(ended).toMatchObject({ status: 70, out: '' })
    expect(ended.err).toMatch(
      /^kubecred: kubecred\/register needs a worker thread, which did not start: ./,
    )
  })

  it('without a private folder', async () => {
    const nowhere = '/proc/none'
    const ended = await scene.run(NEVER, { XDG_RUNTIME_DIR: nowhere, TMPDIR: nowhere })
    expect(ended).toMatchObject({ status: 96, out: '' })
    expect(ended.err).toContain('no private folder is available')
  })
})

describe('a plugin of a program with kubecred/register', () => {
  it('gets the NODE_OPTIONS of the program, and starts no proxy if it is a Node program', async () => {
    const { token } = scene.sandbox.issueToken({ user: 'jane' })
    const KUBECONFIG = scene.plugin(`'${execPath}' -e 0 && answer ${token}`)
    const NODE_OPTIONS = `--import ${MODULE}`
    const ended = await scene.run(`${ASK} ask()`, { KUBECONFIG, NODE_OPTIONS }, [])
    expect(ended).toEqual({ status: 0, out: '200\n', err: '' })
    expect(readFileSync(join(scene.folder, 'runs'), 'utf8')).toBe('\n')
  })

  it.skipIf(!hasScript)(
    `has the terminal at the login, and not while the program runs (${NEEDS_SCRIPT})`,
    async () => {
      const KUBECONFIG = scene.plugin('read word && answer "$word"', { interactiveMode: 'Always' })
      const path = join(scene.folder, 'program.cjs')
      writeFileSync(path, `${ASK} ask().then(console.log)`)
      const [command, args] = onTerminal(quoteWords(execPath, '--import', MODULE, path))
      const program = new RunningProgram(command, args, {
        env: scene.env({ KUBECONFIG, SHELL: '/bin/sh' }),
      })
      // The server refuses it, so the plugin would run again and read the second word.
      program.child.stdin?.write('unknown\nsecond\n')
      await program.until('out', /"code":401/)
      await program.ended()
      expect(readFileSync(join(scene.folder, 'runs'), 'utf8')).toBe('\n')
    },
  )
})
