import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { connect } from 'kubecred'
import {
  onlyOnWindows,
  onlyUnderWine,
  put,
  putPlugin,
  stanzaFor,
  startScene,
  withPath,
} from './scene.mjs'

const scene = await startScene()
const { sandbox, folder } = scene

/** Logs in with a plugin, and returns the user that the server saw. */
async function logIn(exec, options = {}) {
  const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
  const cluster = await connect({ kubeconfig, ...options })
  try {
    const response = await cluster.fetch('/api/v1/namespaces')
    await response.text()
    return response.status
  } finally {
    await cluster.close()
  }
}

/** A file that exists if an argument was run as a command. */
const made = join(tmpdir(), 'made-by-an-argument')
const EXACT = [
  'get-token',
  '& calc',
  `& echo x> ${made}`,
  '| more',
  '> out.txt',
  'a && b || c',
  '^',
  '^& calc',
  '(a)',
  'a b',
  '',
  'C:\\folder\\',
  'C:\\my folder\\',
  '--a=b',
  'a,b;c',
  "it's",
  'grüße 漢字',
  '~',
  '*',
  '-',
]
const REFUSED = [
  '%PATH%',
  '100%',
  '%%cd:~,%PATH%',
  '& calc %PATH%',
  '!PATH!',
  'a"b',
  `" & echo x> ${made} & "`,
  'a\nb',
  `a\r\necho x> ${made}`,
]

for (const extension of ['.cmd', '.bat', '.CMD']) {
  describe(`a plugin that is a ${extension} file`, () => {
    const { batch } = putPlugin(join(folder, `kind${extension}`), 'my plugin', { extension })

    it('starts with exactly its arguments, and nothing else is started', async () => {
      const { exec, seen } = stanzaFor(scene, batch, EXACT)
      assert.equal(await logIn(exec), 200)
      assert.deepEqual(seen().args, EXACT)
      assert.equal(existsSync(made), false)
    })

    for (const arg of REFUSED) {
      it(`is not started with ${JSON.stringify(arg)}`, async () => {
        const { exec, seen } = stanzaFor(scene, batch, ['first', arg])
        await assert.rejects(logIn(exec), (error) => {
          assert.equal(error.code, 'ERR_PLUGIN_ENVIRONMENT')
          assert.match(error.message, /argument 2 contains/)
          assert.ok(!error.message.includes(arg) || arg.length === 1)
          assert.match(error.hint, /\.exe/)
          return true
        })
        assert.throws(seen, { code: 'ENOENT' })
        assert.equal(existsSync(made), false)
      })
    }
  })
}

it('a plugin that is an .exe file starts with exactly its arguments, whatever they are', async () => {
  const { script } = putPlugin(join(folder, 'exe'), 'plugin')
  const args = [...EXACT, ...REFUSED]
  const { exec, seen } = stanzaFor(scene, process.execPath, [script, ...args])
  assert.equal(await logIn(exec), 200)
  assert.deepEqual(seen().args, args)
})

describe('a plugin is looked up', () => {
  const bin = join(folder, 'bin')
  const { batch } = putPlugin(bin, 'some-plugin')
  const env = withPath(bin)

  it('in Path, with the extensions of PATHEXT', async () => {
    const { exec, seen } = stanzaFor(scene, 'some-plugin', ['a'])
    assert.equal(await logIn(exec, { env }), 200)
    assert.deepEqual(seen().args, ['a'])
  })

  it('by a path without an extension, beside a script for Unix shells', async () => {
    put(bin, 'some-plugin', '#!/bin/sh\nexec node "$0.mjs"\n')
    const { exec, seen } = stanzaFor(scene, batch.replace('.cmd', ''), ['a'])
    assert.equal(await logIn(exec), 200)
    assert.deepEqual(seen().args, ['a'])
  })

  it('by a path with slashes, relative to the kubeconfig', async () => {
    putPlugin(join(dirname(sandbox.writeKubeconfig({})), 'beside'), 'other')
    const { exec } = stanzaFor(scene, './beside/other.cmd')
    assert.equal(await logIn(exec), 200)
  })

  it('not in the current folder', async () => {
    const cwd = process.cwd()
    const here = join(folder, 'here')
    putPlugin(here, 'local-plugin')
    process.chdir(here)
    try {
      await assert.rejects(logIn(stanzaFor(scene, 'local-plugin').exec), {
        code: 'ERR_PLUGIN_NOT_FOUND',
      })
    } finally {
      process.chdir(cwd)
    }
  })

  it('so that cmd.exe does not search the current folder for the programs of a batch file', async () => {
    const { exec, seen } = stanzaFor(scene, batch)
    assert.equal(await logIn(exec), 200)
    const names = Object.keys(seen().env).map((name) => name.toUpperCase())
    assert.ok(names.includes('NODEFAULTCURRENTDIRECTORYINEXEPATH'))
  })

  it('and the real cmd.exe finds nothing there', { skip: onlyOnWindows }, async () => {
    const cwd = process.cwd()
    const here = join(folder, 'helpers')
    put(here, 'helper.cmd', '@echo x> "%~dp0ran"\r\n')
    const calls = put(folder, 'calls.cmd', '@helper\r\n')
    process.chdir(here)
    try {
      await assert.rejects(logIn({ command: calls }), { code: 'ERR_PLUGIN_EXITED' })
      assert.equal(existsSync(join(here, 'ran')), false)
    } finally {
      process.chdir(cwd)
    }
  })
})

describe('the variables of a plugin', () => {
  const { batch } = putPlugin(join(folder, 'variables'), 'plugin')

  it('have names in any case, and those of the kubeconfig win', async () => {
    const { exec, seen } = stanzaFor(scene, batch)
    const env = { ...process.env, SOME_NAME: 'of the host', Kubecred_Pkcs11_Pin: '123456' }
    assert.equal(await logIn({ ...exec, env: { ...exec.env, some_name: 'own' } }, { env }), 200)
    const names = Object.entries(seen().env).map(([name, value]) => [name.toUpperCase(), value])
    assert.deepEqual(
      names.filter(([name]) => name === 'SOME_NAME'),
      [['SOME_NAME', 'own']],
    )
    assert.deepEqual(
      names.filter(([name]) => name.startsWith('KUBECRED_PKCS11')),
      [],
    )
  })

  it('can be restricted, but for those that every program needs', async () => {
    const { exec, seen } = stanzaFor(scene, batch)
    const env = { ...process.env, Wanted: '1', UNWANTED: '1' }
    assert.equal(await logIn(exec, { env, policy: { pluginEnv: ['WANTED'] } }), 200)
    const names = Object.keys(seen().env).map((name) => name.toUpperCase())
    assert.ok(names.includes('WANTED'))
    assert.ok(!names.includes('UNWANTED'))
    assert.ok(names.includes('SYSTEMROOT'))
  })
})

it('a script for Unix shells is reported as no program of Windows', async () => {
  const command = put(folder, 'plugin.sh', '#!/bin/sh\necho\n')
  await assert.rejects(logIn({ command }), {
    code: 'ERR_PLUGIN_EXEC_FORMAT',
    message: /not a program for this machine/,
  })
})

it('an answer may have Windows line endings', async () => {
  const code = `console.log(JSON.stringify({
    apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token: process.env.TOKEN },
  }, null, 2).replaceAll('\\n', '\\r\\n') + '\\r')`
  const { batch } = putPlugin(join(folder, 'crlf'), 'plugin', { code })
  assert.equal(await logIn(stanzaFor(scene, batch).exec), 200)
})

it('the words of a plugin and its exit status are reported', async () => {
  const code = `console.error('Run: my-plugin login'); process.exitCode = 7`
  const { batch } = putPlugin(join(folder, 'fails'), 'plugin', { code })
  await assert.rejects(logIn(stanzaFor(scene, batch).exec), (error) => {
    assert.equal(error.code, 'ERR_PLUGIN_EXITED')
    assert.equal(error.exitStatus, 7)
    assert.match(error.message, /my-plugin login/)
    return true
  })
})

describe('a plugin that takes too long is ended', () => {
  const file = join(folder, 'pid')
  const code = `
    import { writeFileSync } from 'node:fs'
    writeFileSync(${JSON.stringify(file)}, String(process.pid))
    setInterval(() => {}, 1000)`
  const { script, batch } = putPlugin(join(folder, 'slow'), 'plugin', { code })
  const options = { policy: { pluginTimeoutMs: 5000 } }
  const assertEnded = () => {
    const pid = Number(readFileSync(file, 'utf8'))
    assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
  }

  it('if it is an .exe file', async () => {
    const exec = { command: process.execPath, args: [script] }
    await assert.rejects(logIn(exec, options), { code: 'ERR_PLUGIN_TIMED_OUT' })
    assertEnded()
  })

  it('with the programs of its batch file', { skip: onlyOnWindows }, async () => {
    await assert.rejects(logIn({ command: batch }, options), { code: 'ERR_PLUGIN_TIMED_OUT' })
    assertEnded()
  })

  it('by taskkill, which gets the number of a process that still runs', {
    skip: onlyUnderWine,
  }, async () => {
    // Wine's taskkill has no /T. This one is Node, which takes its first argument for a script: C:\T.
    const seen = join(folder, 'taskkill.json')
    const system = join(folder, 'Windows', 'System32')
    mkdirSync(system, { recursive: true })
    cpSync(process.execPath, join(system, 'taskkill.exe'))
    cpSync(join(process.env.SystemRoot, 'System32', 'cmd.exe'), join(system, 'cmd.exe'))
    put(
      'C:\\',
      'T',
      `
      const [, , ...args] = process.argv
      process.kill(Number(args.at(-1)), 0)
      require('fs').writeFileSync(${JSON.stringify(seen)}, JSON.stringify(args))`,
    )
    const [root, cwd] = [process.env.SystemRoot, process.cwd()]
    process.env.SystemRoot = join(folder, 'Windows')
    process.chdir('C:\\')
    try {
      const exec = { command: batch, env: { SystemRoot: root } }
      await assert.rejects(logIn(exec, options), { code: 'ERR_PLUGIN_TIMED_OUT' })
    } finally {
      process.env.SystemRoot = root
      process.chdir(cwd)
      rmSync('C:\\T')
      process.kill(Number(readFileSync(file, 'utf8')))
    }
    assert.deepEqual(JSON.parse(readFileSync(seen, 'utf8')).slice(0, -1), ['/F', '/PID'])
  })
})
