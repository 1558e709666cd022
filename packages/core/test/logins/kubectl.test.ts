import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { loginViaKubectl, loginWithKubeconfig } from 'kubecred/logins'
import { Vault } from 'kubecred/vault'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectNoLeak } from '../fixtures/no-leak.ts'
import { CONTEXT, oneContext, ProgramFolder, userOf } from './scene.ts'

/** In CI a missing one is a failure, see tools/system-packages.mjs. */
const hasKubectl = spawnSync('kubectl', ['version', '--client'], { stdio: 'ignore' }).status === 0

let program: ProgramFolder
beforeEach(() => {
  program = new ProgramFolder()
})
afterEach(() => program[Symbol.dispose]())

/** The environment of a program that has this home. */
const envOf = (more: Record<string, string> = {}) => ({
  PATH: process.env['PATH'],
  HOME: program.folder,
  ...more,
})

describe.skipIf(!hasKubectl)(
  'the configuration of an installed kubectl (needs kubectl: apt-get install kubernetes-client)',
  () => {
    it('is used to log in: with a token, a plugin, and a file that is read again', async () => {
      await using sandbox = await startSandbox()
      const env = envOf()
      const userSeen = (kubeconfig: string) =>
        userOf(sandbox, (context) => loginViaKubectl(context, { kubeconfig, env }))
      const { token } = sandbox.issueToken({ user: 'jane' })
      expect(await userSeen(sandbox.writeKubeconfig({ user: { token } }))).toBe('jane')
      const exec = await sandbox.plugin({ user: 'plugin' })
      expect(await userSeen(sandbox.writeKubeconfig({ user: { exec } }))).toBe('plugin')

      const tokenFile = join(sandbox.folder, 'token')
      writeFileSync(tokenFile, sandbox.issueToken({ user: 'one' }).token)
      const kubeconfig = sandbox.writeKubeconfig({ user: { tokenFile: 'token' } })
      const vault = new Vault().onLogin((context) => loginViaKubectl(context, { kubeconfig, env }))
      await using cluster = await connect({ vault })
      await (await cluster.fetch('/api/v1/namespaces')).text()
      sandbox.revoke('one')
      writeFileSync(tokenFile, sandbox.issueToken({ user: 'two' }).token)
      expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
      expect(sandbox.requests.at(-1)?.user).toBe('two')
    })

    it('matches our own parser, with relative paths, several files and any context', async () => {
      const user = {
        'client-certificate': 'c.crt',
        'client-key': '../k.key',
        tokenFile: 'sub/token',
      }
      const exec = {
        apiVersion: 'client.authentication.k8s.io/v1beta1',
        command: './plugin',
        args: ['--account', 'x'],
        env: [{ name: 'A', value: 'b' }],
        provideClusterInfo: true,
      }
      const cluster = {
        server: 'https://one:6443/path',
        'certificate-authority': 'ca.crt',
        'tls-server-name': 'other',
        'proxy-url': 'http://proxy:3128',
        extensions: [{ name: 'client.authentication.k8s.io/exec', extension: { big: 1e15 } }],
      }
      const second = {
        contexts: [{ name: 'two', context: { cluster: 'c2', user: 'e', namespace: 'ns' } }],
        clusters: [{ name: 'c2', cluster }],
        users: [{ name: 'e', user: { exec } }],
      }
      const files = [
        program.kubeconfig('a/k', oneContext({ server: 'https://two' }, user)),
        program.kubeconfig('b/k', second),
        join(program.folder, 'absent'),
      ]
      const env = envOf({ KUBECONFIG: files.join(delimiter) })
      for (const context of [undefined, 'here', 'two']) {
        const said = await loginViaKubectl(CONTEXT, { env, context })
        const read = await loginWithKubeconfig(CONTEXT, { env, context })
        const { origin, ...connection } = said?.login.connection ?? {}
        const { origin: _, ...expected } = read?.login.connection ?? {}
        expect(connection, context).toEqual(expected)
        expect(origin).toBe('kubectl')
      }
    })

    it('does not apply without a kubeconfig or a current context, so that the next login can be tried', async () => {
      expect(await loginViaKubectl(CONTEXT, { env: envOf() })).toBeUndefined()
      const whole = oneContext({ server: 'https://one' }, {})
      program.kubeconfig('.kube/config', { ...whole, 'current-context': '' })
      expect(await loginViaKubectl(CONTEXT, { env: envOf() })).toBeUndefined()
      program.kubeconfig('.kube/config', whole)
      const info =
        (await loginViaKubectl(CONTEXT, { env: envOf({ KUBECONFIG: '/nowhere' }) })) ??
        (await loginViaKubectl(CONTEXT, { env: envOf() }))
      expect(info?.server).toBe('https://one')
    })

    it('is an error if the caller named something that does not exist', async () => {
      program.kubeconfig('.kube/config', oneContext({ server: 'https://one' }, {}))
      await expect(
        loginViaKubectl(CONTEXT, { env: envOf(), context: '--raw=false' }),
      ).rejects.toMatchObject({
        code: 'ERR_CONTEXT_NOT_FOUND',
        hint: expect.stringContaining('here'),
      })
      const kubeconfig = join(program.folder, 'absent')
      await expect(loginViaKubectl(CONTEXT, { env: envOf(), kubeconfig })).rejects.toMatchObject({
        code: expect.stringMatching(/^ERR_(KUBECONFIG_EMPTY|LOGIN_TOOL)$/),
      })
    })

    it('is in the error when it fails, without a secret', async () => {
      const secret = 's3cret-71c0-82d1'
      const kubeconfig = program.kubeconfig('k', {
        users: [{ name: 'u', user: { token: [secret], password: secret } }],
      })
      const error = await loginViaKubectl(CONTEXT, { kubeconfig, env: envOf() }).catch((it) => it)
      expect(error).toMatchObject({
        code: 'ERR_LOGIN_TOOL_FAILED',
        tool: 'kubectl',
        message: expect.stringMatching(/^"kubectl" failed with exit code 1: error: .*token/i),
        hint: expect.stringContaining('kubectl config view'),
      })
      expectNoLeak([error], [secret])
    })
  },
)

describe('a missing kubectl', () => {
  it('does not apply', async () => {
    const env = { ...envOf(), PATH: program.folder }
    expect(await loginViaKubectl(CONTEXT, { env })).toBeUndefined()
    expect(await loginViaKubectl(CONTEXT, { command: '/nowhere/kubectl' })).toBeUndefined()
    program.kubeconfig('.kube/config', oneContext({ server: 'https://one' }, {}))
    const next =
      (await loginViaKubectl(CONTEXT, { env })) ?? (await loginWithKubeconfig(CONTEXT, { env }))
    expect(next?.server).toBe('https://one')
  })

  it('is not looked up in the current folder', async () => {
    program.write('kubectl', '#!/bin/sh\nexit 1\n', 0o700)
    const env = { ...envOf(), PATH: `.${delimiter}${delimiter}` }
    expect(await loginViaKubectl(CONTEXT, { env })).toBeUndefined()
  })
})

describe('options', () => {
  it('that are unknown or invalid are a TypeError', async () => {
    const misspelt = { kubeconfg: '/k' } as never
    await expect(loginViaKubectl(CONTEXT, misspelt)).rejects.toThrow(/did you mean kubeconfig\?/)
    for (const timeoutMs of [0, -1, 0.5, Number.NaN, 2 ** 31]) {
      await expect(loginViaKubectl(CONTEXT, { timeoutMs })).rejects.toThrow(/timeoutMs must be/)
    }
  })
})
