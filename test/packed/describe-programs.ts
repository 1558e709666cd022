import { readFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { type PluginCommand, type Sandbox, startSandbox } from '@kubecred/sandbox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Installed } from './installed.ts'

const EXEC_INFO = JSON.stringify({
  kind: 'ExecCredential',
  apiVersion: 'client.authentication.k8s.io/v1',
  spec: { interactive: false },
})
const STOP = ['agent', 'stop']
/** The command of kubecred run: a program that uses only its environment. */
const CLIENT = `
  const { readFileSync } = require('node:fs')
  const { KUBECRED_SERVER, KUBECRED_TOKEN, KUBECRED_CA } = process.env
  const headers = { authorization: 'Bearer ' + KUBECRED_TOKEN }
  require('node:https').get(KUBECRED_SERVER + '/version', { headers, ca: readFileSync(KUBECRED_CA) }, (response) => {
    response.pipe(process.stdout)
  })
`

/** Tests every installed program against the sandbox; `hasOnlyCli` if only those of @kubecred/cli are. */
export function describePrograms(
  how: string,
  install: () => Promise<Installed>,
  { hasOnlyCli = false } = {},
): void {
  describe.skipIf(process.platform === 'win32')(`installed ${how},`, { concurrent: true }, () => {
    let installed: Installed
    let sandbox: Sandbox
    let kubeconfig: string
    let plugin: PluginCommand
    beforeAll(async () => {
      ;[installed, sandbox] = await Promise.all([install(), startSandbox()])
      const exec = await sandbox.plugin({ user: 'jane', lifetimeMs: 600_000 })
      plugin = exec
      kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
    })
    afterAll(async () => {
      installed?.[Symbol.dispose]()
      await sandbox?.close()
    })

    it('kubecred version prints the version', async () => {
      const manifest = new URL('../../packages/cli/package.json', import.meta.url)
      const { version } = JSON.parse(readFileSync(manifest, 'utf8'))
      const expected = `kubecred ${version} (node ${process.version})\n`
      expect(await installed.run('kubecred', ['version'])).toEqual({
        status: 0,
        out: expected,
        err: '',
      })
    })

    it.each([
      ['fetch', ['/version'], '"gitVersion"'],
      ['whoami', [], 'jane'],
      ['doctor', [], 'jane'],
      ['status', ['--run'], 'expires in'],
      ['token', [], '"ExecCredential"'],
      ['run', ['--', process.execPath, '-e', CLIENT], '"gitVersion"'],
    ])('kubecred %s works', async (command, rest, expected) => {
      const args = [command, '--kubeconfig', kubeconfig, ...rest]
      const { status, out, err } = await installed.run('kubecred', args)
      expect({ status, err }, out).toMatchObject({ status: 0 })
      expect(out).toContain(expected)
    })

    it('kubecred proxy forwards requests, and serves its page and metrics', async ({
      onTestFinished,
    }) => {
      const args = ['proxy', '--kubeconfig', kubeconfig, '--port', '0', '--metrics', '-o', 'json']
      const proxy = installed.start('kubecred', args)
      onTestFinished(() => void proxy.child.kill('SIGKILL'))
      const [line] = await proxy.until('out', /^.*\n/)
      const { url, headerFile, page, metrics } = JSON.parse(line) as Record<string, string>
      const [name = '', secret = ''] = readFileSync(headerFile ?? '', 'utf8').split(': ')
      expect(await read(`${url}/version`, { [name]: secret.trim() })).toContain('"gitVersion"')
      const { origin, hash } = new URL(page ?? '')
      const authorization = `Bearer ${hash.slice(1)}`
      expect(await read(origin)).toContain('<!doctype html>')
      expect(await read(`${origin}/page.js`)).toContain('import')
      expect(await read(metrics ?? '', { authorization })).toContain('kubecred_')
      proxy.child.kill('SIGTERM')
      expect({ status: await proxy.end(), err: proxy.err }).toEqual({ status: 0, err: '' })
    })

    it('kubecred-token starts the agent, which runs the plugin', async ({ onTestFinished }) => {
      const runtime = { XDG_RUNTIME_DIR: installed.makeFolder() }
      onTestFinished(async () => void (await installed.run('kubecred', STOP, runtime)))
      const asPlugin = { ...plugin.env, ...runtime, KUBERNETES_EXEC_INFO: EXEC_INFO }
      const { status, out, err } = await installed.run(
        'kubecred-token',
        ['--', plugin.command],
        asPlugin,
      )
      expect({ status, err }).toEqual({ status: 0, err: '' })
      expect(JSON.parse(out)).toMatchObject({ kind: 'ExecCredential' })
      const shown = await installed.run('kubecred', ['agent', 'status', '-o', 'json'], runtime)
      expect(JSON.parse(shown.out)).toMatchObject({ entries: [{}] })
      const stopped = await installed.run('kubecred', STOP, runtime)
      expect(stopped).toMatchObject({ status: 0, err: 'The agent is stopping.\n' })
    })

    it.each([
      ['without the agent', { KUBECRED_AGENT: 'off' }, () => ['--', plugin.command]],
      ['for a context', {}, () => ['--kubeconfig', kubeconfig]],
    ])('kubecred-token gives a credential %s', async (_how, env, args) => {
      const asPlugin = { ...plugin.env, ...env, KUBERNETES_EXEC_INFO: EXEC_INFO }
      const { status, out, err } = await installed.run('kubecred-token', args(), asPlugin)
      expect({ status, err }).toEqual({ status: 0, err: '' })
      expect(JSON.parse(out)).toMatchObject({ kind: 'ExecCredential' })
    })

    it('kubecred-token --help prints its usage', async () => {
      const { status, out } = await installed.run('kubecred-token', ['--help'])
      expect({ status, out }).toMatchObject({ status: 0, out: expect.stringContaining('Usage') })
    })

    it('kubecred agent starts and stops', async ({ onTestFinished }) => {
      const runtime = { XDG_RUNTIME_DIR: installed.makeFolder() }
      onTestFinished(async () => void (await installed.run('kubecred', STOP, runtime)))
      const started = await installed.run('kubecred', ['agent', 'start'], runtime)
      expect(started).toMatchObject({ status: 0, err: expect.stringContaining('is listening') })
      const stopped = await installed.run('kubecred', STOP, runtime)
      expect(stopped).toMatchObject({ status: 0, err: 'The agent is stopping.\n' })
    })

    if (hasOnlyCli) return

    it('kubecred-pkcs11 prints its help, and reports the missing native module', async () => {
      const help = await installed.run('kubecred-pkcs11', ['--help'])
      expect(help).toMatchObject({ status: 0, out: expect.stringContaining('kubecred-pkcs11') })
      // A file that only root can change, as required for a library.
      const list = await installed.run('kubecred-pkcs11', ['list', '--lib', '/bin/sh'])
      expect(list).toMatchObject({ status: 1, out: '' })
      expect(list.err).toContain('pkcs11js')
      expect(list.err).not.toMatch(/^ +at /m)
    })

    it('the demo runs', async () => {
      const args = ['--no-open', '--duration', '1s']
      const { status, out, err } = await installed.run('kubecred-demo', args)
      expect({ status, err }, out).toEqual({ status: 0, err: '' })
      expect(out).toMatch(/kim +has a key in another process/)
      expect(out).toMatch(/failed +0/)
    })
  })
}

/** Returns the body of a successful response. */
async function read(url: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { agent: false, headers }, resolve).on('error', reject)
  })
  const body = await text(response)
  expect(response.statusCode, body).toBe(200)
  return body
}
