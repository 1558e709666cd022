import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CertificateInvalidError, FileUnreadableError } from '../../src/errors/index.ts'
import type { ClusterTarget } from '../../src/kubeconfig/connection.ts'
import { loadAuthority } from '../../src/node/certificate-authority.ts'
import { nodeFiles } from '../../src/node/node-files.ts'
import { makePair, toPem } from '../fixtures/make-certificates.ts'

let folder = ''
let one = ''
let two = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kubecred-ca-'))
  one = (await makePair()).certificate
  two = (await makePair()).certificate
})
afterAll(() => rmSync(folder, { recursive: true }))

function load(certificateAuthority?: ClusterTarget['certificateAuthority'], name = 'prod') {
  const cluster = { name, server: 'https://s', certificateAuthority } as ClusterTarget
  return loadAuthority(cluster, nodeFiles)
}

it('a cluster without a CA uses those of the system', async () => {
  expect(await load()).toBeUndefined()
})

it('the whole bundle of a kubeconfig or a file is used', async () => {
  const bundle = `# ours\n${one}# theirs\n${two.trim()}`
  const path = join(folder, 'ca.pem')
  writeFileSync(path, bundle)
  expect(await load({ from: 'data', data: bundle })).toBe(bundle)
  expect(await load({ from: 'file', path })).toBe(bundle)
})

const broken = toPem('CERTIFICATE', Buffer.from('no DER'))

it.each<[string, () => string, RegExp]>([
  [
    'an empty string',
    () => '',
    /^certificate-authority-data of cluster "prod" contains no PEM certificate$/,
  ],
  ['garbage', () => 'hello', /contains no PEM certificate/],
  [
    'an invalid certificate',
    () => broken,
    /^certificate 1 in certificate-authority-data of cluster "prod"/,
  ],
  ['an invalid certificate among valid ones', () => one + broken + two, /^certificate 2 in /],
  ['a truncated bundle', () => one + two.slice(0, -40), /^certificate 2 in /],
])('%s is an error, which Node would ignore', async (_, data, message) => {
  const error: unknown = await load({ from: 'data', data: data() }).catch((reason) => reason)
  expect(error).toBeInstanceOf(CertificateInvalidError)
  expect(error).toMatchObject({ message: expect.stringMatching(message) })
})

it('an error names the file that cannot be read', async () => {
  const path = join(folder, 'missing.pem')
  const error: unknown = await load({ from: 'file', path }).catch((reason) => reason)
  expect(error).toBeInstanceOf(FileUnreadableError)
  expect(error).toMatchObject({ path, code: 'ERR_FILE_UNREADABLE' })
})

it('an error names the file with an invalid certificate', async () => {
  const path = join(folder, 'bad.pem')
  writeFileSync(path, broken)
  await expect(load({ from: 'file', path })).rejects.toThrow(
    `certificate-authority ${JSON.stringify(path)}`,
  )
})
