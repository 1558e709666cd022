import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { ended } from '../run/home.ts'
import { HomeScene } from '../run/home-scene.ts'
import { runFake } from '../run-fake.ts'
import { Served } from './proxy-process.ts'

const scene = new HomeScene()

const start = (...args: string[]): Promise<Served> =>
  Served.start(scene.home, ['--kubeconfig', scene.kubeconfig, '--port', '0', ...args])

/** Runs a proxy that fails to start. */
async function fail(...args: string[]): Promise<{ status: number | null; err: string }> {
  const { status, err } = await ended(
    scene.home.start(['proxy', '--kubeconfig', scene.kubeconfig, ...args]),
  )
  return { status, err }
}

describe('kubecred proxy', () => {
  it('serves clients with the secret, prints where it listens, and exits with 0', async () => {
    const proxy = await start()
    expect(proxy.said.url).toBe(`http://127.0.0.1:${proxy.said.port}`)
    expect(proxy.running.out.trim().split('\n')).toHaveLength(1)
    expect(await proxy.status('/version')).toBe(200)
    expect(await proxy.status('/version', { headers: { authorization: 'Bearer wrong' } })).toBe(401)
    expect(await proxy.status('/version', { headers: { host: 'evil.example' } })).toBe(403)
    expect(await proxy.status('/api/v1/namespaces/default/pods/web/exec?command=id')).toBe(403)
    const page = new URL(proxy.said.page ?? '')
    expect((await fetch(page)).status).toBe(200)
    // The page and the API have separate listeners and secrets.
    expect(page.port).not.toBe(String(proxy.said.port))
    expect(proxy.secret['Authorization']).not.toContain(page.hash.slice(1))
    expect(await proxy.end()).toBe(0)
    expect(proxy.running.err).toBe('')
    expect(scene.home.leftovers()).toEqual([])
  })

  it('prints for people how to use it, without the secret', async () => {
    const running = scene.home.start([
      'proxy',
      '--kubeconfig',
      scene.kubeconfig,
      '--port',
      '0',
      '--no-page',
    ])
    await running.until('err', /Ctrl-C ends it/)
    expect(running.out).toBe('')
    expect(running.err).toMatch(/Proxy for context "sandbox", server https:/)
    const [, header, url] = /curl -H @(\S+) (http:\S+)/.exec(running.err) ?? []
    expect(header).toContain(scene.home.private)
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/version$/)
    expect(running.err).not.toMatch(/page|Bearer/)
    running.child.kill('SIGINT')
    expect(await running.end()).toBe(0)
  })

  it('applies --accept-paths, --reject-paths, --reject-methods, --api-prefix and --accept-hosts', async () => {
    const proxy = await start(
      ...['--accept-paths', '^/api/,^/version$', '--reject-paths', 'secrets', '--no-page'],
      ...['--reject-methods', '^POST$,^DELETE$', '--api-prefix', '/k'],
      ...['--accept-hosts', '^proxy\\.example$,other.example:99'],
    )
    expect(proxy.said.url).toMatch(/:\d+\/k$/)
    expect(proxy.said.page).toBeUndefined()
    const to = (path: string, options = {}) => proxy.status(path, options)
    expect(await to('/k/version')).toBe(200)
    expect(await to('/version')).toBe(404)
    expect(await to('/k/apis')).toBe(403)
    expect(await to('/k/api/v1/namespaces/default/secrets')).toBe(403)
    expect(await to('/k/api/v1/namespaces/default', { method: 'DELETE' })).toBe(403)
    for (const host of ['proxy.example', `proxy.example:${proxy.said.port}`, 'other.example:99']) {
      expect(await to('/k/version', { headers: { host } })).toBe(200)
    }
    for (const host of ['proxyXexample', 'x.proxy.example', 'other.example', 'proxy.example:1']) {
      expect(await to('/k/version', { headers: { host } })).toBe(403)
    }
    expect(await proxy.end()).toBe(0)
  })

  it('allows no changes with --read-only', async () => {
    const proxy = await start('--read-only', '--reject-paths', '^$', '--no-page')
    const before = scene.sandbox.requests.length
    expect(await proxy.status('/api/v1/namespaces/default', { method: 'DELETE' })).toBe(403)
    expect(await proxy.status('/api/v1/namespaces/default/pods/web/exec?command=id')).toBe(403)
    expect(scene.sandbox.requests.length).toBe(before)
    expect(await proxy.status('/api/v1/namespaces/default')).toBe(200)
    expect(await proxy.end()).toBe(0)
  })

  it('reads its secrets from files, and serves metrics with the secret of the page', async () => {
    const own = 'a-secret-of-ones-own-0123'
    const pages = 'a-secret-for-the-page-4567'
    const secrets = [scene.home.write('own', `${own}\n`), scene.home.write('pages', pages)]
    const [secretFile = '', pageFile = ''] = secrets
    const more = ['--secret-file', secretFile, '--page-secret-file', pageFile]
    const proxy = await start('--metrics', ...more)
    expect(proxy.secret).toEqual({ Authorization: `Bearer ${own}` })
    expect(proxy.said.page?.endsWith(`/#${pages}`)).toBe(true)
    expect(await proxy.status('/version')).toBe(200)
    expect(await proxy.status('/version', { headers: { authorization: 'Bearer no' } })).toBe(401)
    const scrape = (secret: string) =>
      fetch(proxy.said.metrics ?? '', { headers: { authorization: `Bearer ${secret}` } })
    expect((await scrape(own)).status).toBe(401)
    const answer = await scrape(pages)
    expect(answer.headers.get('content-type')).toContain('version=0.0.4')
    const numbers = await answer.text()
    expect(numbers).toContain(
      'kubecred_proxy_requests_total{method="GET",code="200",answered_by="server"} 1',
    )
    expect(numbers).toContain(
      'kubecred_proxy_requests_total{method="GET",code="401",answered_by="proxy"} 1',
    )
    expect(numbers).toMatch(/^kubecred_proxy_requests_open 0$/m)
    expect(numbers).toMatch(/^# TYPE rest_client_exec_plugin_call_total counter$/m)
    expect(numbers).toMatch(/^process_resident_memory_bytes \d/m)
    expect(await proxy.end()).toBe(0)
  })
})

describe('kubecred proxy does not start', () => {
  it('on a port that is in use', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    for (const flag of ['--port', '--page-port']) {
      const { status, err } = await fail('--port', '0', flag, String(port))
      expect(status).toBe(2)
      expect(err).toContain(`port ${port} is already in use`)
    }
    server.close()
    expect(scene.home.leftovers()).toEqual([])
  })

  it('on an address that this machine does not have', async () => {
    const { status, err } = await fail('--address', '192.0.2.1', '--allow-remote')
    expect(status).toBe(2)
    expect(err).toContain('does not have the address 192.0.2.1')
  })

  it.each([
    ['others can read', 'a-secret-of-ones-own-0123', 0o644, 'chmod 600'],
    ['is too short', 'short', 0o600, '20 to 200'],
    ['has spaces in it', 'a secret of ones own 0123', 0o600, '20 to 200'],
    ['is empty', '', 0o600, '20 to 200'],
  ])('with a secret that %s', async (_, content, mode, text) => {
    const path = scene.home.write('secret', content, mode)
    for (const flag of ['secret-file', 'page-secret-file']) {
      const argv = ['proxy', '--kubeconfig', scene.kubeconfig, '--port', '0', `--${flag}`, path]
      const { status, err } = await runFake(argv, { env: scene.home.env() })
      expect(status).toBe(2)
      expect(err).toContain(`of --${flag} cannot be used`)
      expect(err).toContain(text)
    }
    expect(scene.home.leftovers()).toEqual([])
  })

  it('without a private folder for the secret, except with --secret-file', async () => {
    const open = scene.home.makeFolder('open', 0o777)
    const nowhere = { XDG_RUNTIME_DIR: open, TMPDIR: open }
    const argv = ['proxy', '--kubeconfig', scene.kubeconfig, '--port', '0', '--no-page']
    const { status, err } = await scene.home.run(argv, nowhere)
    expect(status).toBe(96)
    expect(err).toContain('no private folder is available')
    const secret = scene.home.write('secret', 'a-secret-of-ones-own-0123')
    const running = scene.home.start([...argv, '--secret-file', secret], nowhere)
    await running.until('err', /needs the secret from --secret-file/)
    running.child.kill('SIGTERM')
    expect(await running.end()).toBe(0)
  })

  it('as a credential plugin', async () => {
    const running = scene.home.start(['proxy', '--port', '0'], { KUBERNETES_EXEC_INFO: '{}' })
    expect(await ended(running)).toMatchObject({ status: 2 })
    expect(running.err).toContain('plugin policy')
  })

  it('if the context does not exist', async () => {
    expect(await fail('--port', '0', '--context', 'nope')).toMatchObject({ status: 15 })
  })
})

describe('kubecred proxy on all addresses, with --allow-remote,', () => {
  it('accepts the addresses of this machine and the names of --accept-hosts as Host, and no others', async () => {
    const proxy = await start(
      '--address',
      '0.0.0.0',
      '--allow-remote',
      '--accept-hosts',
      'my.example',
    )
    const { port } = proxy.said
    expect(await proxy.status('/version')).toBe(200)
    expect(await proxy.status('/version', { headers: { host: `my.example:${port}` } })).toBe(200)
    expect(await proxy.status('/version', { headers: { host: `evil.example:${port}` } })).toBe(403)
    expect(await proxy.status('/version', { headers: { authorization: 'Bearer wrong' } })).toBe(401)
    expect(await proxy.end()).toBe(0)
  })
})
