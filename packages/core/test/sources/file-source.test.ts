import { beforeAll, describe, expect, it } from 'vitest'
import type { Credential } from '../../src/credential/credential.ts'
import { nodeCrypto } from '../../src/node/node-crypto.ts'
import { Secret } from '../../src/secret/secret.ts'
import { chooseSource } from '../../src/sources/choose-source.ts'
import { certificateFilesSource, tokenFileSource } from '../../src/sources/file-source.ts'
import type { Source } from '../../src/sources/source.ts'
import { listening } from '../fixtures/exec-source.ts'
import { makePair, type TestKeyPair } from '../fixtures/make-certificates.ts'

const NOW = 1_800_000_000_000
let pair: TestKeyPair
let expired: TestKeyPair
beforeAll(async () => {
  ;[pair, expired] = await Promise.all([makePair(), makePair({ lifetimeMs: -60_000 })])
})

/** Files that can be changed between two reads. */
function world(contents: Record<string, string>) {
  const read = async (path: string): Promise<string> => {
    const text = contents[path]
    if (text === undefined) throw Object.assign(new Error('gone'), { code: 'ENOENT' })
    return text
  }
  const after = () => () => {}
  const clock = { now: () => NOW, after, afterRef: after, parseDate: Date.parse }
  return { contents, ports: { files: { read, watch: () => () => {} }, clock, crypto: nodeCrypto } }
}

async function acquire(source: Source) {
  const { ask, reports } = listening()
  const { credential, expiresAt } = await source.acquire(ask)
  return { token: credential.token?.expose(), credential, expiresAt, reports }
}

describe('a token file', () => {
  it('is read, trimmed, and used for a minute', async () => {
    const { ports } = world({ '/t': ' a-token\n' })
    const { token, expiresAt, reports } = await acquire(tokenFileSource('/t', ports))
    expect([token, expiresAt - NOW, reports]).toEqual(['a-token', 60_000, []])
  })

  it.each([
    [undefined, 'it does not exist'],
    ['', 'it is empty'],
    [' \n', 'it is empty'],
    ['two\nlines', 'it contains more than one line, or binary data'],
    ['\u0000', 'it contains more than one line, or binary data'],
  ])('is rejected if it contains %o, without showing its content', async (content, reason) => {
    const { ports } = world(content === undefined ? {} : { '/t': content })
    const message = `token file "/t" cannot be used: ${reason}`
    await expect(acquire(tokenFileSource('/t', ports))).rejects.toMatchObject({ message })
  })

  it('keeps its last good value, with a warning, while it is missing or half-written', async () => {
    const { ports, contents } = world({ '/t': 'one' })
    const source = tokenFileSource('/t', ports)
    await acquire(source)
    contents['/t'] = ''
    const { token, reports } = await acquire(source)
    const message = 'token file "/t" cannot be used: it is empty; its last good content is used'
    expect([token, reports]).toEqual(['one', [{ type: 'warning', message }]])
    contents['/t'] = 'two'
    expect(await acquire(source)).toMatchObject({ token: 'two', reports: [] })
  })

  it('falls back to the inline token until it can be read', async () => {
    const { ports, contents } = world({})
    const source = tokenFileSource('/t', ports, new Secret('inline'))
    const { token, reports } = await acquire(source)
    expect([token, reports]).toMatchObject(['inline', [{ type: 'warning' }]])
    contents['/t'] = 'file'
    expect(await acquire(source)).toMatchObject({ token: 'file' })
    delete contents['/t']
    expect(await acquire(source)).toMatchObject({ token: 'file' })
  })
})

describe('certificate files', () => {
  it('can be one file and one inline value', async () => {
    const { ports } = world({ '/c': pair.certificate })
    const parts = { chain: { path: '/c' }, key: { pem: new Secret(pair.key) } }
    const source = certificateFilesSource(parts, ports)
    const { credential } = await acquire(source)
    expect(credential.certificate?.chain).toBe(pair.certificate)
    expect(source.label).toEqual({ kind: 'certificate-files', name: '/c, inline' })
  })

  it('never make a mismatched pair while they are changed one after the other', async () => {
    const { ports, contents } = world({ '/c': pair.certificate, '/k': pair.key })
    const source = certificateFilesSource({ chain: { path: '/c' }, key: { path: '/k' } }, ports)
    await acquire(source)
    contents['/c'] = expired.certificate
    const half = await acquire(source)
    expect(half.credential.certificate?.chain).toBe(pair.certificate)
    expect(half.reports).toMatchObject([
      { message: expect.stringContaining('another certificate') },
    ])
    contents['/k'] = expired.key
    expect((await acquire(source)).credential.certificate?.chain).toBe(expired.certificate)
  })

  it('are read once more if they do not match, because one may have been replaced between the reads', async () => {
    const { ports, contents } = world({ '/c': pair.certificate, '/k': pair.key })
    const reads: string[] = []
    const read = async (path: string): Promise<string> => {
      reads.push(path)
      const text = await ports.files.read(path)
      // The first read of the certificate is followed by a swap of both.
      if (reads.length === 1)
        Object.assign(contents, { '/c': expired.certificate, '/k': expired.key })
      return text
    }
    const files = { ...ports.files, read }
    const parts = { chain: { path: '/c' }, key: { path: '/k' } }
    const { credential } = await acquire(certificateFilesSource(parts, { ...ports, files }))
    expect(credential.certificate?.chain).toBe(expired.certificate)
    expect(reads).toEqual(['/c', '/k', '/c', '/k'])
    contents['/k'] = pair.key
    reads.length = 1
    await expect(acquire(certificateFilesSource(parts, { ...ports, files }))).rejects.toMatchObject(
      { code: 'ERR_CERTIFICATE_INVALID' },
    )
    expect(reads.slice(1)).toEqual(['/c', '/k', '/c', '/k'])
  })

  it('are read once if they are the same file', async () => {
    const { ports, contents } = world({ '/bundle': pair.key + pair.certificate })
    let reads = 0
    const read = async (path: string): Promise<string> => {
      reads += 1
      const text = await ports.files.read(path)
      contents['/bundle'] = expired.key + expired.certificate
      return text
    }
    const files = { ...ports.files, read }
    const parts = { chain: { path: '/bundle' }, key: { path: '/bundle' } }
    const source = certificateFilesSource(parts, { ...ports, files })
    expect((await acquire(source)).credential.certificate?.chain).toBe(pair.certificate)
    expect(reads).toBe(1)
    expect(source.label).toEqual({ kind: 'certificate-files', name: '/bundle' })
    expect((await acquire(source)).credential.certificate?.chain).toBe(expired.certificate)
  })

  it('are rejected with the reason if they were never valid', async () => {
    const { ports } = world({ '/c': pair.certificate, '/k': 'no key' })
    const source = certificateFilesSource({ chain: { path: '/c' }, key: { path: '/k' } }, ports)
    await expect(acquire(source)).rejects.toThrow('/c, /k: the key is not PEM')
  })
})

describe('a user entry without a plugin', () => {
  const kinds = (credential: Credential): string[] => Object.keys(credential).sort()

  it('is anonymous if it is empty', async () => {
    const source = chooseSource({}, world({}).ports)
    expect(source.label.kind).toBe('anonymous')
    expect((await acquire(source)).credential).toEqual({})
  })

  it('uses a certificate and a token file together', async () => {
    const certificate = {
      chain: { from: 'data', data: pair.certificate },
      key: { from: 'data', data: new Secret(pair.key) },
    } as const
    const source = chooseSource({ certificate, tokenFile: '/t' }, world({ '/t': 'a' }).ports)
    const { credential, expiresAt } = await acquire(source)
    expect([kinds(credential), expiresAt - NOW]).toEqual([['certificate', 'token'], 60_000])
  })

  it('uses an expired certificate with a warning, because the local clock may be wrong', async () => {
    const certificate = {
      chain: { from: 'data', data: expired.certificate },
      key: { from: 'data', data: new Secret(expired.key) },
    } as const
    const { reports } = await acquire(chooseSource({ certificate, name: 'jane' }, world({}).ports))
    // The clock of this world is in the future.
    expect(reports).toMatchObject([
      { type: 'warning', message: expect.stringMatching(/^user "jane": .* expired at/) },
    ])
  })
})
