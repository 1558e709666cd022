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

it('leaves it to the system when the cluster names none', async () => {
  expect(await load()).toBeUndefined()
})

it('hands on what is in the kubeconfig or in a file, whole', async () => {
  const bundle = `# ours\n${one}# theirs\n${two.trim()}`
  const path = join(folder, 'ca.pem')
  writeFileSync(path, bundle)
  expect(await load({ from: 'data', data: bundle })).toBe(bundle)
  expect(await load({ from: 'file', path })).toBe(bundle)
})

const broken = toPem('CERTIFICATE', Buffer.from('no DER'))

it.each<[string, () => string, RegExp]>([
  [
    'nothing',
    () => '',
    /^certificate-authority-data of cluster "prod" holds no certificate in PEM$/,
  ],
  ['garbage', () => 'hello', /holds no certificate in PEM/],
  [
    'something broken',
    () => broken,
    /^certificate 1 in certificate-authority-data of cluster "prod"/,
  ],
  ['something broken among good ones', () => one + broken + two, /^certificate 2 in /],
  ['a bundle that was cut short', () => one + two.slice(0, -40), /^certificate 2 in /],
])('refuses %s, which Node would silently leave out', async (_, data, message) => {
  const error: unknown = await load({ from: 'data', data: data() }).catch((reason) => reason)
  expect(error).toBeInstanceOf(CertificateInvalidError)
  expect(error).toMatchObject({ message: expect.stringMatching(message) })
})

it('names the file that cannot be read', async () => {
  const path = join(folder, 'missing.pem')
  const error: unknown = await load({ from: 'file', path }).catch((reason) => reason)
  expect(error).toBeInstanceOf(FileUnreadableError)
  expect(error).toMatchObject({ path, code: 'ERR_FILE_UNREADABLE' })
})

it('names the file with what is wrong in it', async () => {
  const path = join(folder, 'bad.pem')
  writeFileSync(path, broken)
  await expect(load({ from: 'file', path })).rejects.toThrow(
    `certificate-authority ${JSON.stringify(path)}`,
  )
})
