import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DemoRun, hasSoftHsm } from './demo-run.ts'

describe.skipIf(process.platform !== 'linux')('a demo at speed 4', () => {
  let demo: DemoRun
  beforeAll(() => {
    demo = new DemoRun({ args: ['--speed', '4'] })
  })
  afterAll(() => demo.dispose())

  it('introduces its users and names the page', async () => {
    await demo.until(/The page: http:\/\/127\.0\.0\.1:\d+\/#\S+/)
    expect(demo.unwrapped).toMatch(/jane +logs in with a plugin; its tokens expire after 5 s/)
    expect(demo.out).toMatch(
      /robot +gets certificates from another plugin; they expire after 8\.8 s/,
    )
    expect(demo.out).toContain(
      hasSoftHsm ? 'kim    has a key in a SoftHSM token' : 'kim    has a key in another process',
    )
    expect(demo.out).toContain('No browser is opened: standard output is not a terminal.')
  })

  it('shows all users on the page, if the request has the secret', async () => {
    const [, origin = '', secret = ''] = await demo.until(/(http:\/\/127\.0\.0\.1:\d+)\/#(\S+)/)
    expect((await fetch(`${origin}/state`)).status).toBe(401)
    await demo.until(/jane needs a token/)
    const leaving = new AbortController()
    const { status, body } = await fetch(`${origin}/state`, {
      headers: { authorization: `Bearer ${secret}` },
      signal: leaving.signal,
    })
    expect(status).toBe(200)
    let text = ''
    for await (const chunk of body ?? []) {
      text += Buffer.from(chunk).toString()
      if (text.includes('\n')) break
    }
    leaving.abort()
    const { identities, traffic } = JSON.parse(text.slice(0, text.indexOf('\n')))
    expect(identities.map(({ id }: { id: string }) => id)).toEqual(['jane', 'robot', 'kim'])
    expect(traffic.total).toBeGreaterThan(0)
  })

  it('runs the plugin once for all waiting requests', async () => {
    await demo.until(
      /jane needs a token: one plugin run \([^)]+\), \d+ requests waited [^,]+, none/,
    )
    await demo.until(/robot needs a certificate: one plugin run/)
    await demo.until(/kim's key signed a TLS handshake/)
  })

  it('recovers from a revoked token without a failed request', async () => {
    await demo.until(/ s {2}jane's token is revoked/)
    await demo.until(
      /The server refused jane's token: one plugin run \([^)]+\), \d+ requests waited up to [^,]+, none failed\./,
    )
  })

  it('renews credentials ahead of time', async () => {
    await demo.until(/robot has a new certificate, \d+ s before the old one expires/)
    await demo.until(/jane's token had \d s left, so the plugin was run ahead of time/)
    await demo.until(/kim has a new certificate, and its key in .+ signed the next handshake/)
  })

  it('recovers from a revoked certificate, and no request has failed in the end', async () => {
    await demo.until(/ s {2}robot's certificate is revoked/)
    await demo.until(/The server refused robot's certificate: one plugin run/)
    demo.child.kill('SIGTERM')
    expect(await demo.end()).toBe(0)
    const facts = Object.fromEntries(
      [...demo.out.matchAll(/^ {2}(requests|failed|[a-z ]+?) {2,}(\d[\d,]*)/gm)].map(
        ([, name = '', value = '']) => [name, Number(value.replaceAll(',', ''))],
      ),
    )
    expect(facts).toMatchObject({ failed: 0, 'watches interrupted': 0 })
    expect(facts['revocations']).toBeGreaterThanOrEqual(2)
    expect(facts['requests']).toBeGreaterThan(20)
    expect(facts['plugin runs']).toBeGreaterThanOrEqual(5)
    expect(facts['certificates rotated']).toBeGreaterThanOrEqual(3)
    expect(facts['signatures']).toBeGreaterThanOrEqual(2)
    expect(demo.out).toMatch(/kim's private key +never in this process/)
    expect(demo.err).toBe('')
  })

  it('prints plain text if standard output is not a terminal', () => {
    expect(demo.out).not.toContain('\u001b')
    expect(demo.out).not.toContain('\r')
  })

  it('leaves nothing behind', () => {
    expect(demo.remains).toEqual([])
  })
})
