import { fileURLToPath } from 'node:url'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasScript, onTerminal, quoteWords } from '../../core/test/fixtures/running-program.ts'
import { PROGRAM, Running, spawnProgram } from './spawn-program.ts'

const onUnix = describe.skipIf(process.platform === 'win32')

let sandbox: Sandbox
let kubeconfig: string
let hanging: string

beforeAll(async () => {
  sandbox = await startSandbox()
  const { token } = sandbox.issueToken({ user: 'jane' })
  kubeconfig = sandbox.writeKubeconfig({ user: { token } })
  const command = fileURLToPath(new URL('./fixtures/hangs.sh', import.meta.url))
  hanging = sandbox.writeKubeconfig({ user: { exec: { command } } })
})
afterEach(() => sandbox.respondWith(undefined))
afterAll(() => sandbox.close())

describe('the built program', () => {
  it.each([
    [['version'], 0],
    [['fetch', '/nothing-here'], 1],
    [['fetch', 'no-slash'], 2],
    [['whoami', '--context', 'nope'], 15],
    [['fetch', '/version', '--server', 'https://127.0.0.1:1'], 60],
  ])('exits with the status of %j: %i', async (argv, status) => {
    const program = spawnProgram(...argv, '--kubeconfig', kubeconfig)
    expect(await program.end()).toBe(status)
  })

  it('sends standard input with -d @-', async () => {
    const program = spawnProgram(
      'fetch',
      '/api/v1/namespaces',
      '-d',
      '@-',
      '--kubeconfig',
      kubeconfig,
    )
    program.child.stdin?.end('{"metadata":{"name":"from-stdin"}}')
    expect(await program.end()).toBe(0)
    expect(JSON.parse(program.out).metadata.name).toBe('from-stdin')
  })

  it('does not wait for standard input longer than --timeout allows', async () => {
    const argv = ['fetch', '/x', '-d', '@-', '--timeout', '100ms', '--kubeconfig', kubeconfig]
    expect(await spawnProgram(...argv).end()).toBe(65)
  })

  it('prints each event of a watch at once, and ends silently when its reader leaves', async () => {
    const program = spawnProgram('fetch', '/api/v1/namespaces?watch=1', '--kubeconfig', kubeconfig)
    await program.until('out', /"name":"default"/)
    await createNamespace('while-watched')
    await program.until('out', /"name":"while-watched"/)
    program.child.stdout?.destroy()
    await createNamespace('unseen')
    expect(await program.end()).toBe(0)
    expect(program.err).toBe('')
  })

  it('ends silently in a pipe to head', async () => {
    const line = `"${process.execPath}" "${PROGRAM}" fetch /api/v1/namespaces --kubeconfig "${kubeconfig}"`
    const body = `${'x'.repeat(1023)}\n`.repeat(1024)
    sandbox.respondWith(() => ({ status: 200, body }))
    const shell = new Running('sh', ['-c', `{ ${line}; echo "status $?" >&2; } | head -1 | wc -c`])
    expect(await shell.end()).toBe(0)
    expect({ out: shell.out.trim(), err: shell.err }).toEqual({ out: '1024', err: 'status 0\n' })
  })

  it('reports an output that cannot be written', async () => {
    const line = `"${process.execPath}" "${PROGRAM}" version > /dev/full`
    const shell = new Running('sh', ['-c', line])
    expect(await shell.end()).toBe(70)
    expect(shell.err).toContain('kubecred: cannot write to standard output')
  })
})

onUnix('a signal while a plugin hangs', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGQUIT', 131],
    ['SIGABRT', 134],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s ends both, with status %i', async (signal, status) => {
    const program = spawnProgram('fetch', '/version', '--kubeconfig', hanging)
    const plugin = await pluginId(program)
    program.child.kill(signal)
    expect(await program.end()).toBe(status)
    expect(isAlive(plugin)).toBe(false)
  })

  it('--timeout ends both too', async () => {
    const program = spawnProgram('fetch', '/version', '--kubeconfig', hanging, '--timeout', '2')
    const plugin = await pluginId(program)
    expect(await program.end()).toBe(65)
    expect(isAlive(plugin)).toBe(false)
  })
})

it('a signal ends a watch and its connection', async () => {
  const program = spawnProgram('fetch', '/api/v1/namespaces?watch=1', '--kubeconfig', kubeconfig)
  await program.until('out', /"name":"default"/)
  program.child.kill('SIGINT')
  expect(await program.end()).toBe(130)
})

describe.skipIf(!hasScript)('on a terminal (needs script: apt install bsdutils)', () => {
  const atTerminal = (...args: string[]): Running =>
    new Running(...onTerminal(quoteWords(process.execPath, PROGRAM, ...args)))

  it('JSON is indented, with colours', async () => {
    const terminal = atTerminal('fetch', '/version', '--kubeconfig', kubeconfig)
    expect(await terminal.end()).toBe(0)
    expect(terminal.out).toContain('\u001b[34m"major"\u001b[39m: \u001b[32m"1"\u001b[39m,\r\n')
  })

  it('a watch is printed as it arrives, and Ctrl-C ends it with 130', async () => {
    const terminal = atTerminal('fetch', '/api/v1/namespaces?watch=1', '--kubeconfig', kubeconfig)
    await terminal.until('out', /\{"type":"ADDED"/)
    terminal.child.stdin?.write('\u0003')
    expect(await terminal.end()).toBe(130)
  })

  it('errors have colours, and the same exit status', async () => {
    const terminal = atTerminal('whoami', '--context', 'nope', '--kubeconfig', kubeconfig)
    expect(await terminal.end()).toBe(15)
    expect(terminal.out).toContain(
      '\u001b[31mkubecred:\u001b[39m context "nope", named by flag --context, does',
    )
  })

  it('a plugin that must prompt fails while -d @- reads the keyboard', async () => {
    const plugin = await sandbox.plugin({ user: 'jane' })
    const asking = sandbox.writeKubeconfig({
      user: { exec: { ...plugin, interactiveMode: 'Always' } },
    })
    const terminal = atTerminal('fetch', '/x', '-d', '@-', '--kubeconfig', asking)
    terminal.child.stdin?.write('{}\n\u0004')
    expect(await terminal.end()).toBe(44)
    expect(terminal.out).toContain('used by -d @-')
  })
})

async function pluginId(program: Running): Promise<number> {
  const [, id] = await program.until('err', /plugin (\d+) waits/)
  return Number(id)
}

function isAlive(id: number): boolean {
  try {
    process.kill(id, 0)
    return true
  } catch {
    return false
  }
}

async function createNamespace(name: string): Promise<void> {
  const body = JSON.stringify({ metadata: { name } })
  const program = spawnProgram(
    'fetch',
    '/api/v1/namespaces',
    '-d',
    body,
    '--kubeconfig',
    kubeconfig,
  )
  expect(await program.end()).toBe(0)
}
