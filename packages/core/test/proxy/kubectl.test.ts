import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, connect } from 'kubecred'
import { DEFAULT_RULES } from 'kubecred/proxy'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAuthority } from '../../../sandbox/src/certificates/authority.ts'
import { issueServerCertificate } from '../../../sandbox/src/certificates/server-certificate.ts'
import { type RunningProxy, SECRET, startProxy } from './scene.ts'

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0
const execute = promisify(execFile)

describe.skipIf(!hasKubectl)(
  'kubectl through the proxy (needs: apt-get install kubernetes-client)',
  () => {
    let sandbox: Sandbox
    let cluster: Cluster
    let running: RunningProxy
    let folder: string
    let tls: { cert: string; key: string }

    beforeAll(async () => {
      sandbox = await startSandbox()
      const exec = await sandbox.plugin({ user: 'jane', credential: 'certificate' })
      cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { exec } }) })
      const authority = await createAuthority('the proxy')
      const { certificate, key } = await issueServerCertificate(authority)
      const rules = { ...DEFAULT_RULES, rejectPaths: [], allowImpersonation: true }
      tls = { cert: certificate, key }
      running = await startProxy(cluster, { tls, rules })
      folder = mkdtempSync(join(tmpdir(), 'kubecred-proxy-'))
      const ca = Buffer.from(authority.certificate).toString('base64')
      write('config', {
        clusters: [
          { name: 'p', cluster: { server: running.url, 'certificate-authority-data': ca } },
        ],
        users: [
          { name: 'p', user: { token: SECRET } },
          { name: 'stranger', user: { token: 'wrong' } },
        ],
        contexts: [{ name: 'p', context: { cluster: 'p', user: 'p' } }],
        'current-context': 'p',
      })
    })
    afterAll(async () => {
      await running[Symbol.asyncDispose]()
      await cluster.close()
      await sandbox.close()
      rmSync(folder, { recursive: true })
    })

    const write = (name: string, content: object): string => {
      writeFileSync(join(folder, name), JSON.stringify(content), { mode: 0o600 })
      return join(folder, name)
    }
    /** With its own home, so that it does not share a cache. */
    const settings = () => ({
      env: { ...process.env, HOME: folder, KUBECONFIG: join(folder, 'config') },
    })
    const kubectl = async (...args: string[]): Promise<string> =>
      (await execute('kubectl', args, settings())).stdout
    const failing = (...args: string[]): Promise<string> =>
      execute('kubectl', args, settings()).then(
        () => '',
        ({ stderr }) => String(stderr),
      )

    it('gets, applies and deletes', async () => {
      const metadata = { name: 'made-by-kubectl', namespace: 'default' }
      const file = write('map.json', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata,
        data: { a: 'b' },
      })
      expect(await kubectl('apply', '--validate=false', '-f', file)).toContain('created')
      const change = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'c' } }
      const changed = write('map.json', change)
      expect(await kubectl('apply', '--validate=false', '-f', changed)).toContain('configured')
      expect(await kubectl('get', 'configmap', 'made-by-kubectl', '-o', 'jsonpath={.data.a}')).toBe(
        'c',
      )
      expect(await kubectl('delete', 'configmap', 'made-by-kubectl')).toContain('deleted')
      expect(await failing('get', 'configmap', 'made-by-kubectl')).toContain('NotFound')
    })

    it('watches', async () => {
      const args = ['get', 'configmaps', '--watch-only', '-o', 'name']
      const watching: ChildProcess = spawn('kubectl', args, settings())
      let seen = ''
      watching.stdout?.on('data', (chunk) => {
        seen += chunk
      })
      await expect.poll(() => running.proxy.open, { timeout: 10_000 }).toBe(1)
      const metadata = { name: 'watched', namespace: 'default' }
      const file = write('watched.json', { apiVersion: 'v1', kind: 'ConfigMap', metadata })
      await kubectl('create', '--validate=false', '-f', file)
      await expect.poll(() => seen, { timeout: 10_000 }).toContain('configmap/watched')
      const ended = once(watching, 'close')
      watching.kill()
      await ended
      await expect.poll(() => running.proxy.open).toBe(0)
    })

    it('runs a command in a pod and follows its log', async () => {
      const metadata = { name: 'web', namespace: 'default' }
      const file = write('pod.json', { apiVersion: 'v1', kind: 'Pod', metadata })
      await kubectl('create', '--validate=false', '-f', file)
      expect(await kubectl('exec', 'web', '--', 'whoami')).toContain('jane')
      expect(await kubectl('logs', 'web')).toContain('line 3')
    })

    it('shows that the proxy rejected a request, and why', async () => {
      expect(await failing('get', 'pods', '--user', 'stranger')).toMatch(
        /kubecred proxy|provide credentials|logged in/,
      )
      await using strict = await startProxy(cluster, {
        tls,
        rules: { ...DEFAULT_RULES, readOnly: true },
      })
      const server = ['--server', strict.url]
      const file = write('map.json', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'x' },
      })
      const stderr = await failing(...server, 'create', '--validate=false', '-f', file)
      expect(stderr).toContain(
        'kubecred proxy: not allowed by the rules of this proxy: POST is not a read-only method',
      )
    })
  },
)
