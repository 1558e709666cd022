import { chmodSync, existsSync, lstatSync, mkdirSync, symlinkSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ended } from '../run/home.ts'
import { HomeScene } from '../run/home-scene.ts'
import { Served } from './proxy-process.ts'

const scene = new HomeScene()

const start = (path: string, ...more: string[]): Promise<Served> =>
  Served.start(scene.home, [
    '--kubeconfig',
    scene.kubeconfig,
    '--no-page',
    '--unix-socket',
    path,
    ...more,
  ])

async function startFailure(path: string): Promise<string> {
  const running = scene.home.start([
    'proxy',
    '--kubeconfig',
    scene.kubeconfig,
    '--unix-socket',
    path,
  ])
  expect(await ended(running)).toMatchObject({ status: 2, out: '' })
  return running.err
}

describe.skipIf(process.platform === 'win32')('kubecred proxy on a unix socket', () => {
  it('needs no secret, because no other user can connect', async () => {
    const path = scene.home.path('proxy.sock')
    const proxy = await start(path)
    expect(proxy.said).toEqual({ unixSocket: path, prefix: '/' })
    expect(lstatSync(path).mode & 0o777).toBe(0o600)
    expect(await proxy.status('/version')).toBe(200)
    expect(await proxy.status('/version', { headers: { origin: 'https://evil.example' } })).toBe(
      403,
    )
    expect(await proxy.end()).toBe(0)
    expect(existsSync(path)).toBe(false)
  })

  it('needs the secret of --secret-file', async () => {
    const secret = scene.home.write('secret', 'a-secret-of-ones-own-0123')
    const proxy = await start(scene.home.path('proxy.sock'), '--secret-file', secret)
    expect(await proxy.status('/version')).toBe(200)
    expect(await proxy.status('/version', { headers: { authorization: 'Bearer no' } })).toBe(401)
    expect(await proxy.end()).toBe(0)
  })

  it('replaces the socket of a killed proxy, but not of a running one', async () => {
    const path = scene.home.path('proxy.sock')
    const first = await start(path)
    expect(await startFailure(path)).toContain('another program is listening on it')
    first.running.child.kill('SIGKILL')
    await first.running.end()
    expect(existsSync(path)).toBe(true)
    const second = await start(path)
    expect(await second.status('/version')).toBe(200)
    expect(await second.end()).toBe(0)
  })

  it('does not start where others could replace the socket, or where another file exists', async () => {
    scene.home.makeFolder('open', 0o777)
    expect(await startFailure(scene.home.path('open/proxy.sock'))).toContain(
      'others can write to the folder',
    )
    expect(await startFailure(scene.home.path('nowhere/proxy.sock'))).toContain('does not exist')
    const file = scene.home.write('file', 'precious')
    expect(await startFailure(file)).toContain('it exists and is not a socket')
    expect(existsSync(file)).toBe(true)
    expect(await startFailure(scene.home.path('x'.repeat(120)))).toContain('100 is the limit')
  })

  it('does not start where others could replace its folder', async () => {
    const real = scene.home.makeFolder('real', 0o700)
    symlinkSync(real, scene.home.path('link'))
    expect(await startFailure(scene.home.path('link/proxy.sock'))).toContain('is a symbolic link')
    const open = scene.home.makeFolder('open', 0o777)
    mkdirSync(scene.home.path('open/mine'), { mode: 0o700 })
    const path = scene.home.path('open/mine/proxy.sock')
    expect(await startFailure(path)).toContain(`the folder ${open} is writable by other users`)
    // With the sticky bit, as in /tmp, other users cannot move the folder.
    chmodSync(open, 0o1777)
    const proxy = await start(path)
    expect(await proxy.status('/version')).toBe(200)
    expect(await proxy.end()).toBe(0)
  })
})
