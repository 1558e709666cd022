import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runFake } from '../run-fake.ts'
import { ended, hasCurl, NEEDS_CURL } from './home.ts'
import { HomeScene } from './home-scene.ts'

const scene = new HomeScene()

/** The beginning of the name of the folder of a process that does not run. */
function deadName(): string {
  const space = existsSync('/proc/self/ns/pid') ? readlinkSync('/proc/self/ns/pid') : ''
  return `run-4194305-1-${/\d+/.exec(space)?.[0] ?? 0}`
}

describe('the folder of a process', () => {
  it('is private, with its contents', async () => {
    const script = `stat -c '%a %F' "$(dirname "$KUBECONFIG")" "$KUBECONFIG" "$KUBECRED_CA" "$KUBECRED_HEADER"`
    const { out } = await scene.runShell(script)
    expect(out).toBe('700 directory\n600 regular file\n600 regular file\n600 regular file\n')
  })

  it('is removed by the next process if its own was killed, and kept if it is running', async () => {
    const living = await scene.startShell('echo ready; read line')
    const killed = await scene.startShell('echo ready; read line')
    expect(scene.home.leftovers()).toHaveLength(2)
    killed.child.kill('SIGKILL')
    await once(killed.child, 'exit')
    expect(scene.home.leftovers()).toHaveLength(2)
    expect(await scene.runShell('exit 0')).toMatchObject({ status: 0 })
    expect(scene.home.leftovers()).toHaveLength(1)
    expect(await ended(living)).toMatchObject({ status: 1 })
    killed.child.stdin?.end()
    expect(scene.home.leftovers()).toEqual([])
  })

  it('is removed without following links, and nothing else is touched', async () => {
    expect(await scene.runShell('exit 0')).toMatchObject({ status: 0 })
    const precious = scene.home.makeFolder('precious')
    writeFileSync(join(precious, 'file'), 'kept')
    const dead = deadName()
    mkdirSync(join(scene.home.private, `${dead}-abcdef`), { mode: 0o700 })
    symlinkSync(precious, join(scene.home.private, `${dead}-abcdef`, 'link'))
    symlinkSync(precious, join(scene.home.private, `${dead}-linked`))
    mkdirSync(join(scene.home.private, 'run-4194305-1-99-othern'), { mode: 0o700 })
    mkdirSync(join(scene.home.private, 'something-else'), { mode: 0o700 })
    expect(await scene.runShell('exit 0')).toMatchObject({ status: 0 })
    expect(readFileSync(join(precious, 'file'), 'utf8')).toBe('kept')
    expect(scene.home.leftovers().sort()).toEqual([
      `${dead}-linked`,
      'run-4194305-1-99-othern',
      'something-else',
    ])
  })

  it.skipIf(process.getuid?.() === 0)(
    'is left if it cannot be removed (root can remove everything)',
    async () => {
      expect(await scene.runShell('exit 0')).toMatchObject({ status: 0 })
      const stuck = join(scene.home.private, `${deadName()}-stuck`)
      mkdirSync(stuck, { mode: 0o700 })
      writeFileSync(join(stuck, 'file'), '')
      chmodSync(stuck, 0o500)
      expect(await scene.runShell('exit 0')).toMatchObject({ status: 0 })
      chmodSync(stuck, 0o700)
      expect(scene.home.leftovers()).toHaveLength(1)
    },
  )

  it('is elsewhere if XDG_RUNTIME_DIR is not private, and an error if nothing is', async () => {
    const open = scene.home.makeFolder('open', 0o777)
    const good = scene.home.makeFolder('good')
    const where = scene.shell('echo "$KUBECONFIG"')
    const { out } = await scene.home.run(where, { XDG_RUNTIME_DIR: open, TMPDIR: good })
    expect(out.startsWith(`${good}/kubecred-`)).toBe(true)
    const linked = scene.home.makeFolder('linked')
    symlinkSync(good, join(linked, 'kubecred'))
    expect((await scene.home.run(where, { XDG_RUNTIME_DIR: linked, TMPDIR: good })).out).toContain(
      good,
    )
    const { status, err } = await scene.home.run(where, { XDG_RUNTIME_DIR: open, TMPDIR: open })
    expect(status).toBe(96)
    expect(err).toContain('is writable by other users')
  })
})

describe('the environment of the command', () => {
  it.skipIf(!hasCurl)(
    `lets curl reach the server, only with the secret (${NEEDS_CURL})`,
    async () => {
      const curl = 'curl -sS -o /dev/null -w "%{http_code} " --cacert "$KUBECRED_CA"'
      const script = `${curl} -H "@$KUBECRED_HEADER" "$KUBECRED_SERVER/version"
      ${curl} -H "Authorization: Bearer $KUBECRED_TOKEN" "$KUBECRED_SERVER/version"
      ${curl} "$KUBECRED_SERVER/version"
      ${curl} -H "@$KUBECRED_HEADER" -H "Host: evil.example" "$KUBECRED_SERVER/version"
      curl -sS "$KUBECRED_SERVER/version" 2>/dev/null || echo untrusted`
      const { out } = await scene.runShell(script, { HTTPS_PROXY: 'http://127.0.0.1:1' })
      expect(out).toBe('200 200 401 403 untrusted\n')
    },
  )

  it('is that of the user with the address of the proxy, and without PINs', async () => {
    const { out } = await scene.runShell('env', {
      NO_PROXY: 'corp.example',
      OWN: 'value',
      KUBECRED_PKCS11_PIN: 'marked-pin',
      NODE_OPTIONS: '--max-old-space-size=512',
    })
    expect(out).toContain('\nOWN=value\n')
    expect(out).toContain('NO_PROXY=corp.example,127.0.0.1,localhost\n')
    expect(out).toContain('no_proxy=corp.example,127.0.0.1,localhost\n')
    expect(out).toContain('NODE_OPTIONS=--max-old-space-size=512\n')
    expect(out).not.toContain('marked-pin')
    expect(out).not.toContain('KEPT_NODE_OPTIONS')
  })

  it('is enough for a program with kubecred/register, which starts no second proxy', async () => {
    const module = createRequire(import.meta.url).resolve('kubecred/register')
    const node = `"${process.execPath}" --import "${module}" -p process.env.KUBECRED_SERVER`
    const { out } = await scene.runShell(`echo $KUBECRED_SERVER; ${node}`)
    const [outer, inner] = out.split('\n')
    expect(outer).toMatch(/^https:/)
    expect(inner).toBe(outer)
  })

  it('has NODE_OPTIONS, with which no process with a credential was started', async () => {
    const marks = scene.home.path('marks')
    const code = `require('node:fs').appendFileSync(${JSON.stringify(marks)}, process.pid + '\\n')`
    const options = `--require ${scene.home.write('mark.cjs', code)}`
    const script = `echo $PPID; "${process.execPath}" -p process.pid; kill -TERM $$`
    const { out, signal } = await scene.runShell(script, { NODE_OPTIONS: options })
    const [parent, child] = out.trim().split('\n')
    const marked = readFileSync(marks, 'utf8').trim().split('\n')
    expect(marked).toContain(child)
    expect(marked).not.toContain(parent)
    expect(signal).toBe('SIGTERM')
  })
})

describe('the command line', () => {
  it('belongs to the command from its first word on', async () => {
    const show = ['printf', '%s|', '-v', '--context', 'x', '--', '-o=json', '-v=3', '']
    for (const dashes of [['--'], []]) {
      const { out } = await scene.home.run([
        'run',
        '--kubeconfig',
        scene.kubeconfig,
        ...dashes,
        ...show,
      ])
      expect(out).toBe('-v|--context|x|--|-o=json|-v=3||')
    }
  })

  it('may have our flags before it', async () => {
    const { err } = await scene.home.run([
      '-v',
      'run',
      '--kubeconfig',
      scene.kubeconfig,
      '--',
      'true',
    ])
    expect(err).toMatch(/running true with the proxy https:\/\/127\.0\.0\.1:\d+/)
  })

  it.each([[['run']], [['run', '--']], [['run', '--context', 'x']]])(
    '%j lacks a command',
    async (argv) => {
      const { status, err } = await runFake(argv)
      expect(status).toBe(2)
      expect(err).toContain('run needs -- COMMAND')
    },
  )

  it('is rejected in a credential plugin', async () => {
    const marker = scene.home.path('started')
    const argv = ['run', '--kubeconfig', scene.kubeconfig, '--', 'touch', marker]
    const { status, err } = await scene.home.run(argv, { KUBERNETES_EXEC_INFO: '{}' })
    expect(status).toBe(2)
    expect(err).toContain('plugin policy')
    expect(existsSync(marker)).toBe(false)
  })
})
