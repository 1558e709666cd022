import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DemoRun, hasSoftHsm } from './demo-run.ts'

describe.skipIf(process.platform !== 'linux')('a demo at four times its speed', () => {
  let demo: DemoRun
  beforeAll(() => {
    demo = new DemoRun({ args: ['--speed', '4'] })
  })
  afterAll(() => demo.dispose())

  it('says who takes part, and where the page is', async () => {
    await demo.until(/The page: http:\/\/127\.0\.0\.1:\d+\/#\S+/)
    expect(demo.story).toMatch(/jane +logs in with a plugin, whose tokens live for 5 s/)
    expect(demo.out).toMatch(/robot +has certificates from another plugin, each good for 8\.8 s/)
    expect(demo.out).toContain(
      hasSoftHsm ? 'kim    has a key in a SoftHSM token' : 'kim    has a key in another process',
    )
    expect(demo.out).toContain('No browser is opened: standard output is no terminal.')
  })

  it('shows everybody on the page, to those who know the secret', async () => {
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

  it('begins with one run for all who wait', async () => {
    await demo.until(
      /jane needs a token: one plugin run \([^)]+\), \d+ requests waited [^,]+, none/,
    )
    await demo.until(/robot needs a certificate: one plugin run/)
    await demo.until(/kim's key signed a TLS handshake/)
  })

  it('recovers when a token is revoked, and no request fails', async () => {
    await demo.until(/ s {2}Somebody revokes jane's token/)
    await demo.until(
      /The server refused jane's token: one plugin run \([^)]+\), \d+ requests waited up to [^,]+, none failed\./,
    )
  })

  it('renews ahead of time', async () => {
    await demo.until(/robot has a new certificate, \d+ s before the old one ends/)
    await demo.until(/jane's token had \d s left, so the plugin fetched the next one/)
    await demo.until(/kim has a new certificate, and its key in .+ signed the next handshake/)
  })

  it('recovers when a certificate is revoked, and nothing has failed in the end', async () => {
    await demo.until(/ s {2}Somebody revokes robot's certificate/)
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

  it('was plain text, because nobody looked at it', () => {
    expect(demo.out).not.toContain('\u001b')
    expect(demo.out).not.toContain('\r')
  })

  it('leaves nothing behind', () => {
    expect(demo.remains).toEqual([])
  })
})
