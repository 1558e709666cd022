import { X509Certificate } from 'node:crypto'
import { expect, it } from 'vitest'
import { createAuthority } from '../../src/certificates/authority.ts'

it('loading @peculiar/x509 leaves Reflect unchanged', async () => {
  const before = Reflect.ownKeys(Reflect)
  await createAuthority('test')
  expect(Reflect.ownKeys(Reflect)).toEqual(before)
})

it('the certificates of a chain verify each other', async () => {
  const root = await createAuthority('root')
  const below = await root.issueIntermediate('below')
  const made = await below.issue({
    subject: [{ CN: ['max'] }],
    notBefore: new Date(0),
    notAfter: new Date(1000),
    usage: 'client',
  })
  const [top, middle, leaf] = [root, below, made].map((one) => new X509Certificate(one.certificate))
  expect([top?.ca, middle?.ca, leaf?.ca]).toEqual([true, true, false])
  expect(top && middle?.verify(top.publicKey)).toBe(true)
  expect(middle && leaf?.verify(middle.publicKey)).toBe(true)
  expect(top && leaf?.verify(top.publicKey)).toBe(false)
})
