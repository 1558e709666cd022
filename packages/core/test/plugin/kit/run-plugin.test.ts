import { startSandbox } from '@kubecred/sandbox'
import { describe, expect, it } from 'vitest'
import { encodeExecInfo } from '../../../src/plugin/exec-info.ts'
import { makePair } from '../../fixtures/make-certificates.ts'
import { pluginWith, runBody, runPath, startPlugin, V1, writePlugin } from './spawn-plugin.ts'

const ANSWER = `{"kind":"ExecCredential","apiVersion":"${V1}","status":{"token":"t"}}\n`

describe('a plugin', () => {
  it('prints the answer and exits with 0, also with open handles', async () => {
    expect(await runBody("setInterval(() => {}, 1000); return { token: 't' }")).toEqual({
      status: 0,
      out: ANSWER,
      err: '',
    })
  })

  it('receives the input of the client', async () => {
    const body = 'console.error(JSON.stringify({ cluster, interactive, response, apiVersion }))'
    const { err } = await runBody(`${body}; return { token: 't' }`, {
      cluster: { server: 'https://k', config: { audience: 'a' } },
    })
    expect(JSON.parse(err)).toMatchObject({
      apiVersion: V1,
      interactive: false,
      cluster: { server: 'https://k', config: { audience: 'a' } },
    })
  })

  it('receives the refusal in v1alpha1, and answers in that version', async () => {
    const apiVersion = 'client.authentication.k8s.io/v1alpha1'
    const refusal = { status: 401, headers: { a: 'b' } }
    const { out } = await runBody('return { token: response.code + response.header.A[0] }', {
      apiVersion,
      refusal,
    })
    expect(JSON.parse(out)).toEqual({
      kind: 'ExecCredential',
      apiVersion,
      status: { token: '401b' },
    })
  })

  it('can be a synchronous function', async () => {
    const path = writePlugin(
      "import { runPlugin } from 'kubecred/plugin'\nrunPlugin(() => ({ token: 't' }))",
    )
    expect(await runPath(path)).toEqual({ status: 0, out: ANSWER, err: '' })
  })

  it('prints a long answer completely, however slowly it is read', async () => {
    const plugin = startPlugin(pluginWith("return { token: 'x'.repeat(900_000) }"))
    plugin.child.stdout?.pause()
    await new Promise((resolve) => setTimeout(resolve, 300))
    plugin.child.stdout?.resume()
    const { status, out } = await plugin.ended()
    expect(status).toBe(0)
    expect(JSON.parse(out).status.token).toHaveLength(900_000)
  })

  it('reaches the cluster without a credential', async () => {
    await using sandbox = await startSandbox()
    const certificateAuthorityData = Buffer.from(sandbox.caPem).toString('base64')
    const body = "return { token: String((await clusterFetch('/version')).status) }"
    const { out, err } = await runBody(body, {
      cluster: { server: sandbox.url, certificateAuthorityData },
    })
    expect(err).toBe('')
    expect(JSON.parse(out).status.token).toBe('200')
    expect(sandbox.requests).toMatchObject([{ user: 'system:anonymous', hasAuthorization: false }])
  })

  it('gets an error with a hint for the kubeconfig if the cluster is missing', async () => {
    const { status, out, err } = await runBody("await clusterFetch('/version')")
    expect([status, out]).toEqual([1, ''])
    expect(err).toMatch(/^ExecInfoError: .*\nSet provideClusterInfo: true in the exec stanza/)
  })
})

describe('standard output has only the answer despite', () => {
  it.each([
    ['console.log', "console.log('chatter')"],
    ['console.table', "console.table([{ chatter: 'chatter' }])"],
    ['process.stdout.write', "process.stdout.write('chatter')"],
    ['process.stdout.end', "process.stdout.end('chatter')"],
    ['a write to a saved stream', "globalThis.kept.write('chatter')"],
    ['a pipeline, which ends its target', "await pipeline(['chatter'], process.stdout)"],
    ['finally', "try { return { token: 't' } } finally { process.stdout.write('chatter') }"],
    ['a handler of the exit', "process.on('exit', () => console.log('chatter'))"],
    [
      'a timer',
      "setTimeout(() => console.log('chatter'), 0); await new Promise((r) => setTimeout(r, 50))",
    ],
  ])('%s', async (_, body) => {
    const before =
      "import { pipeline } from 'node:stream/promises'\nglobalThis.kept = process.stdout"
    const { status, out, err } = await runPath(pluginWith(`${body}; return { token: 't' }`, before))
    expect([status, out]).toEqual([0, ANSWER])
    expect(err).toContain('chatter')
  })

  it('a megabyte of chatter', async () => {
    const chatter = "for (let i = 0; i < 1024; i += 1) console.log('x'.repeat(1023))"
    const { status, out, err } = await runBody(`${chatter}; return { token: 't' }`)
    expect([status, out]).toEqual([0, ANSWER])
    expect(err).toHaveLength(1024 * 1024)
  })
})

describe('a failure is written to standard error only:', () => {
  it.each([
    ['an error', "throw new Error('log in first')", 1, 'Error: log in first\n'],
    ['with a status', "throw Object.assign(new Error('x'), { exitStatus: 7 })", 7, 'Error: x\n'],
    [
      'with a bad status',
      "throw Object.assign(new Error('x'), { exitStatus: 0 })",
      1,
      'Error: x\n',
    ],
    ['text', "throw 'no error'", 1, 'Error: no error\n'],
    ['nothing', 'throw undefined', 1, 'Error: the plugin threw undefined instead of an error\n'],
    [
      'an unhandled rejection',
      "Promise.reject(new Error('lost')); await new Promise((r) => setTimeout(r, 5000))",
      1,
      'Error: lost\n',
    ],
    [
      'an exception in a timer',
      "setTimeout(() => { throw new TypeError('late') }); await new Promise((r) => setTimeout(r, 5000))",
      1,
      'TypeError: late\n',
    ],
    [
      'a promise that never settles',
      'await new Promise(() => {})',
      1,
      'Error: the function of the plugin waits for a promise that never settles\n',
    ],
  ])('%s', async (_, body, status, err) => {
    expect(await runBody(body)).toEqual({ status, out: '', err })
  })

  it.each([
    ['no answer', 'return undefined', 'returned nothing instead of an object'],
    ['an empty answer', 'return {}', "didn't return a token"],
    ['a bad token', "return { token: 'a\\n' }", 'a token with a line break in it'],
    ['a key alone', "return { clientKeyData: 'k' }", 'returned only a key'],
    [
      'an invalid certificate',
      "return { clientCertificateData: 'c', clientKeyData: 'k' }",
      'cannot be used',
    ],
  ])('%s', async (_, body, words) => {
    const { status, out, err } = await runBody(body)
    expect([status, out]).toEqual([1, ''])
    expect(err).toMatch(
      /^Plugin(?:OutputInvalid|Certificate)Error: credential plugin "plugin-\d+\.mjs" /,
    )
    expect(err).toContain(words)
    expect(err.split('\n')).toHaveLength(3)
  })

  it.each([undefined, '', '{'])('no input: %j', async (info) => {
    const path = pluginWith("return { token: 't' }")
    const { status, out, err } = await runPath(path, { KUBERNETES_EXEC_INFO: info })
    expect([status, out]).toEqual([1, ''])
    expect(err).toMatch(/^ExecInfoError: the variable KUBERNETES_EXEC_INFO /)
  })

  it('with a stack in debug mode', async () => {
    const path = pluginWith("throw new Error('deep')")
    const { err } = await runPath(path, { KUBECRED_PLUGIN_DEBUG: '1' })
    expect(err).toMatch(/^Error: deep\nError: deep\n +at .*plugin-\d+\.mjs/)
  })
})

describe('a credential', () => {
  it('can be a certificate and a key, as a Secret or a string', async () => {
    const { certificate, key } = await makePair()
    const path = writePlugin(`import { runPlugin, Secret } from 'kubecred/plugin'
await runPlugin(async () => ({
  clientCertificateData: ${JSON.stringify(certificate)},
  clientKeyData: new Secret(${JSON.stringify(key)}),
}))`)
    const { out, err } = await runPath(path)
    expect(err).toBe('')
    expect(JSON.parse(out).status).toEqual({
      clientCertificateData: certificate,
      clientKeyData: key,
    })
  })

  it('is printed with a warning if it has already expired', async () => {
    const body = "return { token: 't', expirationTimestamp: '2020-01-31T12:00:00Z' }"
    const { status, out, err } = await runBody(body)
    expect(status).toBe(0)
    expect(JSON.parse(out).status.token).toBe('t')
    expect(err).toMatch(/^warning: expirationTimestamp 2020-01-31T12:00:00Z is in the past/)
  })
})

describe('a signal', () => {
  const cleaning = pluginWith(`
    setInterval(() => {}, 1000)
    console.error('ready')
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    console.error('cleaned up: ' + signal.reason.message)
    return { token: 't' }`)
  const stubborn = pluginWith(`
    console.error('ready')
    signal.addEventListener('abort', () => console.error('aborted'))
    await new Promise((resolve) => setTimeout(resolve, 60_000))`)

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)(
    '%s lets the function clean up, then exits with %i and without an answer',
    async (signal, status) => {
      const plugin = startPlugin(cleaning)
      await plugin.until('err', /ready/)
      const since = performance.now()
      plugin.child.kill(signal)
      expect(await plugin.ended()).toEqual({
        status,
        out: '',
        err: `ready\ncleaned up: the plugin was stopped by ${signal}\n`,
      })
      // A plugin that has cleaned up does not wait for the whole second.
      expect(performance.now() - since).toBeLessThan(900)
    },
  )

  it('ends a function that ignores it a second later', async () => {
    const plugin = startPlugin(stubborn)
    await plugin.until('err', /ready/)
    plugin.child.kill('SIGTERM')
    expect(await plugin.ended()).toMatchObject({ status: 143, out: '' })
  })

  it('ends the plugin at once if it is sent twice', async () => {
    const plugin = startPlugin(stubborn)
    await plugin.until('err', /ready/)
    plugin.child.kill('SIGTERM')
    await plugin.until('err', /aborted/)
    const since = performance.now()
    plugin.child.kill('SIGINT')
    expect((await plugin.ended()).status).toBe(130)
    expect(performance.now() - since).toBeLessThan(900)
  })
})

describe('if the client does not read', () => {
  it('standard output, the plugin fails with an error', async () => {
    const plugin = startPlugin(
      pluginWith("await new Promise((r) => setTimeout(r, 100)); return { token: 't' }"),
    )
    plugin.child.stdout?.destroy()
    const { status, err } = await plugin.ended()
    expect(status).toBe(1)
    expect(err).toBe('Error: the client closed standard output before the answer: write EPIPE\n')
  })

  it('standard error, the answer is still printed', async () => {
    const wait = 'await new Promise((r) => setTimeout(r, 100));'
    const path = pluginWith(
      `${wait} console.log('x'.repeat(100_000)); ${wait} return { token: 't' }`,
    )
    const plugin = startPlugin(path, {
      KUBERNETES_EXEC_INFO: encodeExecInfo({ apiVersion: V1, interactive: false }),
    })
    plugin.child.stderr?.destroy()
    expect(await plugin.ended()).toMatchObject({ status: 0, out: ANSWER })
  })
})
