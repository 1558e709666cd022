import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findLibrary, PIN, readPublicKey } from '../soft-token.ts'
import { askSignature, isGoodSignature, type Scheme } from '../spawn-signer.ts'

const LIBRARY = findLibrary('pkcs11/libtpm2_pkcs11.so')
const canRun =
  existsSync(LIBRARY) &&
  spawnSync('swtpm', ['--version']).status === 0 &&
  spawnSync('pkcs11-tool', ['--version']).error === undefined

let folder: string
let tpm: ChildProcess
let environment: Record<string, string>

/** Finds a free port followed by another one: the TPM's library uses the second, too. */
async function findPorts(): Promise<number> {
  for (;;) {
    const [one, two] = [createServer(), createServer()]
    one.listen(0, '127.0.0.1')
    await once(one, 'listening')
    const { port } = one.address() as AddressInfo
    const isFree = await new Promise<boolean>((resolve) => {
      two.once('error', () => resolve(false)).listen(port + 1, '127.0.0.1', () => resolve(true))
    })
    one.close()
    two.close()
    if (isFree) return port
  }
}

async function isListening(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    const isThere = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    socket.destroy()
    if (isThere) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

function tool(args: readonly string[]): string {
  const env = { ...process.env, ...environment }
  const all = ['--module', LIBRARY, ...args]
  const { status, stdout, stderr } = spawnSync('pkcs11-tool', all, { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${stdout}${stderr}`)
  return stdout
}

beforeAll(async () => {
  if (!canRun) return
  folder = mkdtempSync(join(tmpdir(), 'kubecred-tpm-'))
  for (const name of ['state', 'store']) mkdirSync(join(folder, name))
  const port = await findPorts()
  const listen = (at: number): string => `type=tcp,port=${at},bindaddr=127.0.0.1`
  tpm = spawn(
    'swtpm',
    [
      ...['socket', '--tpm2', '--tpmstate', `dir=${join(folder, 'state')}`],
      ...['--server', listen(port), '--ctrl', listen(port + 1)],
      ...['--flags', 'not-need-init,startup-clear'],
    ],
    { stdio: 'ignore' },
  )
  await isListening(port + 1)
  const address = `swtpm:host=127.0.0.1,port=${port}`
  environment = {
    TPM2_PKCS11_STORE: join(folder, 'store'),
    TPM2_PKCS11_TCTI: address,
    TPM2_PKCS11_LOG_LEVEL: '0',
    TSS2_LOG: 'all+none',
  }
  const so = ['--so-pin', '12345678']
  tool(['--slot-index', '0', '--init-token', '--label', 'tpm', ...so])
  tool(['--token-label', 'tpm', '--login', '--login-type', 'so', '--init-pin', '--pin', PIN, ...so])
  const make = ['--token-label', 'tpm', '--login', '--pin', PIN, '--keypairgen', '--usage-sign']
  tool([...make, '--key-type', 'EC:prime256v1', '--id', '02', '--label', 'ec'])
  tool([...make, '--key-type', 'RSA:2048', '--id', '03', '--label', 'rsa'])
}, 60_000)

afterAll(async () => {
  if (!canRun) return
  const ended = once(tpm, 'exit')
  tpm.kill()
  await ended
  rmSync(folder, { recursive: true, force: true })
})

describe.skipIf(!canRun)(
  'a TPM (needs swtpm, libtpm2-pkcs11-1 and opensc: apt-get install swtpm libtpm2-pkcs11-1 opensc)',
  () => {
    it.each<[Scheme, string]>([
      ['ecdsa_secp256r1_sha256', '02'],
      ['rsa_pss_rsae_sha256', '03'],
      ['rsa_pss_rsae_sha384', '03'],
    ])('signs %s', async (scheme, objectIdHex) => {
      const configuration = { pathLib: LIBRARY, tokenLabel: 'tpm', objectIdHex, pin: PIN }
      const signature = await askSignature(scheme, configuration, environment)
      const own = (args: readonly string[]): string => tool(['--token-label', 'tpm', ...args])
      const key = readPublicKey(own, objectIdHex, join(folder, 'public'))
      expect(isGoodSignature(scheme, key, signature)).toBe(true)
    })

    it('rejects a wrong PIN', async () => {
      const configuration = { pathLib: LIBRARY, objectIdHex: '02', pin: '654321' }
      await expect(
        askSignature('ecdsa_secp256r1_sha256', configuration, environment),
      ).rejects.toThrow('the PIN is wrong (CKR_PIN_INCORRECT)')
    })
  },
)
