import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { Served } from '../proxy/proxy-process.ts'
import { HomeScene } from '../run/home-scene.ts'
import { PROGRAM, Running } from '../spawn-program.ts'

const scene = new HomeScene()

it.skipIf(process.platform === 'win32')(
  'a diagnostic report of Node has neither the credential nor the secret of the proxy',
  async () => {
    const { token } = scene.sandbox.issueToken({ user: 'jane' })
    const kubeconfig = scene.sandbox.writeKubeconfig({ user: { token } })
    const report = scene.home.path('report.json')
    // Not NODE_OPTIONS: with them, the process that has the credential is started without them.
    const options = ['--report-on-signal', '--report-signal=SIGUSR2', `--report-filename=${report}`]
    const line = ['proxy', '-o', 'json', '--port', '0', '--no-page', '--kubeconfig', kubeconfig]
    const running = new Running(process.execPath, [...options, PROGRAM, ...line], scene.home.env())
    const proxy = await Served.of(running)
    const [secret = ''] = Object.values(proxy.secret).map((value) => value.replace('Bearer ', ''))
    expect(await proxy.status('/version')).toBe(200)
    running.child.kill('SIGUSR2')
    // Node writes it in place, so it may be incomplete at first.
    await expect.poll(() => isComplete(report), { timeout: 20_000 }).toBe(true)
    const text = readFileSync(report, 'utf8')
    expect(text).toContain('"environmentVariables"')
    expect(secret.length).toBeGreaterThan(10)
    expect(text).not.toContain(token)
    expect(text).not.toContain(secret)
    expect(await proxy.status('/version')).toBe(200)
    expect(await proxy.end()).toBe(0)
  },
)

function isComplete(path: string): boolean {
  try {
    return existsSync(path) && JSON.parse(readFileSync(path, 'utf8')) !== null
  } catch {
    return false
  }
}
