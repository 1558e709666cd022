import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { put, putPlugin, runProgram, stanzaFor, startScene, withPath } from './scene.mjs'

const scene = await startScene()
const { sandbox, folder } = scene
const user = sandbox.issueToken({ user: 'jane' })
const env = { KUBECONFIG: sandbox.writeKubeconfig({ user }), USERPROFILE: folder }
const kubecred = (args, { cwd, base = process.env, env: own = {} } = {}) =>
  runProgram('kubecred.cjs', args, { cwd, env: { ...base, ...env, ...own } })

describe('kubecred', () => {
  it('version names this Node', async () => {
    const { status, stdout } = await kubecred(['version'])
    assert.equal(status, 0)
    assert.match(stdout, new RegExp(`node ${process.version}`))
  })

  for (const [args, expected] of [
    [['fetch', '/api/v1/namespaces'], /NamespaceList/],
    [['whoami'], /jane/],
    [['status'], /sandbox/],
    [['doctor'], /jane/],
    [['explain', 'ERR_PLUGIN_ENVIRONMENT'], /argument/],
  ]) {
    it(`${args.join(' ')} works`, async () => {
      const { status, stdout, stderr } = await kubecred(args)
      assert.equal(status, 0, stdout + stderr)
      assert.match(stdout, expected)
    })
  }

  it('logs in with a plugin that is a .cmd file', async () => {
    const { batch } = putPlugin(join(folder, 'bin'), 'my-plugin')
    const { exec } = stanzaFor(scene, 'my-plugin', ['& calc'])
    const KUBECONFIG = sandbox.writeKubeconfig({ user: { exec } })
    const { status, stdout, stderr } = await kubecred(['whoami'], {
      base: withPath(dirname(batch)),
      env: { KUBECONFIG },
    })
    assert.equal(status, 0, stdout + stderr)
    assert.match(stdout, /jane/)
  })

  it('wrap changes nothing, because there is no agent', async () => {
    const { exec } = stanzaFor(scene, 'my-plugin')
    const KUBECONFIG = sandbox.writeKubeconfig({ user: { exec } })
    const before = readFileSync(KUBECONFIG, 'utf8')
    const { status, stderr } = await kubecred(['wrap', '--yes'], { env: { KUBECONFIG } })
    assert.equal(status, 19, stderr)
    assert.match(stderr, /no agent/)
    assert.equal(readFileSync(KUBECONFIG, 'utf8'), before)
  })

  it('proxy does not listen on a pipe, which every user could open', async () => {
    const { status, stderr } = await kubecred(['proxy', '--unix-socket', '\\\\.\\pipe\\proxy'])
    assert.equal(status, 2)
    assert.match(stderr, /on Windows/)
  })

  it('agent says that there is none on Windows', async () => {
    const { status, stderr } = await kubecred(['agent', 'status'])
    assert.equal(status, 93)
    assert.match(stderr, /no agent on Windows/)
  })
})

describe('kubecred run', () => {
  const out = join(folder, 'out.json')
  const TOOL = `
    import { writeFileSync } from 'node:fs'
    import { request } from 'node:https'
    import { readFileSync } from 'node:fs'
    const { KUBECRED_SERVER, KUBECRED_TOKEN, KUBECRED_CA, KUBECONFIG } = process.env
    const headers = { authorization: 'Bearer ' + KUBECRED_TOKEN }
    request(KUBECRED_SERVER + '/api/v1/namespaces', { headers, ca: readFileSync(KUBECRED_CA) }, (response) => {
      const seen = { status: response.statusCode, args: process.argv.slice(2), kubeconfig: KUBECONFIG }
      writeFileSync(${JSON.stringify(out)}, JSON.stringify(seen))
      process.exitCode = 7
      response.resume()
    }).end()`
  const { script, batch } = putPlugin(join(folder, 'tools'), 'my-tool', { code: TOOL })
  const inPath = withPath(dirname(batch))
  const ARGS = ['a b', '& calc', 'C:\\folder\\', '^', 'grüße']

  for (const [name, command] of [
    ['an .exe file', [process.execPath, script]],
    ['a .cmd file in Path', ['my-tool']],
  ]) {
    it(`runs ${name} with exactly its arguments, and ends with its exit status`, async () => {
      const { status, stderr } = await kubecred(['run', '--', ...command, ...ARGS], {
        base: inPath,
      })
      assert.equal(status, 7, stderr)
      const seen = JSON.parse(readFileSync(out, 'utf8'))
      assert.equal(seen.status, 200)
      assert.deepEqual(seen.args, ARGS)
      // In the profile, and removed at the end.
      assert.ok(seen.kubeconfig.startsWith(process.env.LOCALAPPDATA), seen.kubeconfig)
      assert.equal(existsSync(seen.kubeconfig), false)
    })
  }

  it('does not run a .cmd file with an argument that would be expanded', async () => {
    const { status, stderr } = await kubecred(['run', '--', 'my-tool', '%PATH%'], { base: inPath })
    assert.equal(status, 126)
    assert.match(stderr, /argument 1 contains %/)
  })

  it('ends a program at its time limit', async () => {
    const { script: slow } = putPlugin(join(folder, 'slow'), 'slow', {
      code: 'setInterval(() => {}, 1000)',
    })
    const args = ['run', '--timeout', '5s', '--', process.execPath, slow]
    const { status, stderr } = await kubecred(args)
    assert.notEqual(status, 0)
    assert.match(stderr, /ERR_TIMED_OUT/)
  })

  it('does not run a program of the current folder', async () => {
    const cwd = join(folder, 'here')
    put(cwd, 'local.cmd', '@exit 0\r\n')
    const { status, stderr } = await kubecred(['run', '--', 'local'], { cwd })
    assert.equal(status, 127)
    assert.match(stderr, /not found in PATH/)
  })
})

describe('kubecred-token', () => {
  const { batch } = putPlugin(join(folder, 'token'), 'plugin')
  const EXEC_INFO = JSON.stringify({
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: { interactive: false },
  })

  for (const [how, own, expected] of [
    ['without an agent', { KUBECRED_AGENT: 'off' }, /^$/],
    ['and says that there is no agent', {}, /no agent on Windows/],
  ]) {
    it(`runs a plugin ${how}`, async () => {
      const { exec, seen } = stanzaFor(scene, batch, ['a b'])
      const args = ['--', exec.command, ...exec.args]
      const { status, stdout, stderr } = await runProgram('kubecred-token.cjs', args, {
        env: { ...process.env, ...env, ...exec.env, KUBERNETES_EXEC_INFO: EXEC_INFO, ...own },
      })
      assert.equal(status, 0, stderr)
      assert.equal(JSON.parse(stdout).status.token, exec.env.TOKEN)
      assert.match(stderr, expected)
      assert.deepEqual(seen().args, ['a b'])
    })
  }

  it('takes nothing from a folder that another user can create in place of /proc', async () => {
    const evil = join(folder, 'evil')
    putPlugin(evil, 'evil-plugin')
    const proc = join('C:\\proc', String(process.pid))
    put(proc, 'environ', `Path=${evil}\0PATH=${evil}\0KUBERC=off\0`)
    try {
      const { status, stderr } = await runProgram('kubecred-token.cjs', ['--', 'evil-plugin'], {
        cwd: folder,
        env: { ...process.env, ...env, KUBERNETES_EXEC_INFO: EXEC_INFO, KUBECRED_AGENT: 'off' },
      })
      assert.equal(status, 30, stderr)
      assert.match(stderr, /was not found/)
    } finally {
      rmSync('C:\\proc', { recursive: true })
    }
  })
})
