import { spawnSync } from 'node:child_process'
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RunningProgram } from '../../../core/test/fixtures/running-program.ts'
import { hasSoftHsm, NEEDS, SOFTHSM } from '../soft-token.ts'
import { TokenScene } from './token-scene.ts'

const CLIENT = fileURLToPath(new URL('makes-requests.mjs', import.meta.url))
const SCANNER = fileURLToPath(new URL('scan-memory.mjs', import.meta.url))
/** The length of a piece of a key: long enough not to occur by chance. */
const PIECE = 16
/** Stored only in a file that the signer reads. */
const TOKEN_PIN = 'canary-pin-0f7e21a9'

interface Known {
  readonly id: string
  readonly key: string
  readonly certificate: string
}

let scene: TokenScene
let rsa: Known
let ec: Known
let pinFile: string
beforeAll(async () => {
  if (!hasSoftHsm) return
  scene = await TokenScene.open()
  scene.hsm.addToken('known', TOKEN_PIN)
  pinFile = join(scene.hsm.folder, 'pin')
  writeFileSync(pinFile, TOKEN_PIN, { mode: 0o600 })
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const { sandbox, hsm } = scene
  rsa = { ...(await sandbox.issueCertificate({ user: 'rsa', publicKey })), key, id: '01' }
  ec = { ...(await sandbox.issueCertificate({ user: 'ec' })), id: '02' }
  for (const { id, certificate, key } of [rsa, ec]) {
    hsm.importPair('known', id, certificate, key, TOKEN_PIN)
  }
}, 60_000)
afterAll(() => scene?.[Symbol.asyncDispose]())

/** Whether this process may read the memory of another. */
const mayReadMemory = ((): boolean => {
  try {
    closeSync(openSync('/proc/self/mem', 'r'))
    const reads = `require('node:fs').openSync('/proc/' + process.ppid + '/mem', 'r')`
    return spawnSync(process.execPath, ['-e', reads]).status === 0
  } catch {
    return false
  }
})()
const NEEDS_PROC =
  'and to read /proc/PID/mem of another process: Linux, as root or with ptrace_scope 0'

/** The private numbers of a key, in pieces and in both byte orders, and its PEM text. */
function piecesOf(pem: string): Record<string, string> {
  const jwk = createPrivateKey(pem).export({ format: 'jwk' })
  const pieces: Record<string, string> = {}
  for (const name of ['d', 'p', 'q'] as const) {
    const number = Buffer.from(jwk[name] ?? '', 'base64url')
    const middle = number.length / 2
    for (const at of [0, middle - PIECE / 2, number.length - PIECE]) {
      const piece = number.subarray(at, at + PIECE)
      if (piece.length < PIECE) continue
      pieces[`${name} from byte ${at}`] = piece.toString('hex')
      pieces[`${name} from byte ${at}, backwards`] = Buffer.from(piece).reverse().toString('hex')
    }
  }
  const [, body = ''] = pem.split('\n')
  return { ...pieces, text: Buffer.from(body).toString('hex') }
}

/** Runs a client that makes requests, and searches its memory from another process. */
async function findIn(
  kubeconfig: string,
  patterns: Record<string, string>,
): Promise<{ read: number; found: string[]; users: unknown[] }> {
  const { environment } = scene.hsm
  const before = scene.sandbox.requests.length
  const client = new RunningProgram(process.execPath, [CLIENT, kubeconfig], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  })
  await client.until('out', /ready/)
  const scanned = spawnSync(process.execPath, [SCANNER, String(client.child.pid)], {
    input: JSON.stringify(patterns),
    encoding: 'utf8',
  })
  client.child.stdin?.end()
  expect(await client.ended()).toMatchObject({ status: 0, err: '' })
  expect(scanned).toMatchObject({ status: 0, stderr: '' })
  const users = scene.sandbox.requests.slice(before).map(({ user }) => user)
  return { ...JSON.parse(scanned.stdout), users }
}

describe.skipIf(!hasSoftHsm || !mayReadMemory)(
  `the memory of a client (${NEEDS}, ${NEEDS_PROC})`,
  () => {
    it('is tested with keys that the token does not reveal', () => {
      const access = scene.accessTo('known', TOKEN_PIN)
      expect(access).toEqual(['sensitive', 'sensitive'])
    })

    it.each([
      ['RSA', () => rsa],
      ['P-256', () => ec],
    ])('does not contain a key that is in a token: %s', async (_, known) => {
      const { id, key, certificate } = known()
      const config = { pathLib: SOFTHSM, tokenLabel: 'known', objectIdHex: id, pinFile }
      const { found, read, users } = await findIn(scene.writeKubeconfig(config), {
        ...piecesOf(key),
        pin: Buffer.from(TOKEN_PIN).toString('hex'),
        // Must be found: shows that the right memory was read.
        certificate: Buffer.from(certificate.split('\n')[1] ?? '').toString('hex'),
      })
      expect(found).toEqual(['certificate'])
      expect(read).toBeGreaterThan(10_000_000)
      expect(users).toEqual(Array(3).fill(known() === rsa ? 'rsa' : 'ec'))
    })

    it.each([
      ['RSA', () => rsa, ['d', 'p', 'q', 'text']],
      ['P-256', () => ec, ['d', 'text']],
    ])('contains a key that is in the kubeconfig: %s', async (_, known, parts) => {
      const { key, certificate } = known()
      const kubeconfig = scene.sandbox.writeKubeconfig({ user: { certificate, key } })
      const { found, users } = await findIn(kubeconfig, piecesOf(key))
      const names = new Set(found.map((name) => name.split(' ')[0]))
      expect([...names].sort()).toEqual(parts)
      expect(users).toEqual(Array(3).fill(known() === rsa ? 'rsa' : 'ec'))
    })
  },
)
