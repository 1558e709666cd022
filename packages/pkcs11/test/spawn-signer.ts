import type { SpawnOptions } from 'node:child_process'
import { constants, createHash, type KeyObject, verify, X509Certificate } from 'node:crypto'
import type { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { type Ended, RunningProgram } from '../../core/test/fixtures/running-program.ts'

/** The built program; bootstrap builds it before the tests run. */
export const PROGRAM = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const VERSION = 'external-signer.authentication.k8s.io/v1alpha1'

export type Environment = Readonly<Record<string, string | undefined>>
export type Configuration = Readonly<Record<string, string>>

/** Starts the program detached, so that it does not find the terminal of the test run. */
export function start(
  args: readonly string[],
  env: Environment,
  options: SpawnOptions = {},
): RunningProgram {
  return new RunningProgram(process.execPath, [PROGRAM, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    ...options,
  })
}

export const certificateRequest = (configuration: Configuration): object => ({
  apiVersion: VERSION,
  kind: 'CertificateRequest',
  configuration,
})

export const MESSAGE = Buffer.from('a message to sign')

const SCHEMES = {
  rsa_pss_rsae_sha256: {
    hash: 'sha256',
    type: '*rsa.PSSOptions',
    opts: { SaltLength: -1, Hash: 5 },
  },
  rsa_pss_rsae_sha384: {
    hash: 'sha384',
    type: '*rsa.PSSOptions',
    opts: { SaltLength: -1, Hash: 6 },
  },
  rsa_pss_rsae_sha512: {
    hash: 'sha512',
    type: '*rsa.PSSOptions',
    opts: { SaltLength: -1, Hash: 7 },
  },
  ecdsa_secp256r1_sha256: { hash: 'sha256', type: 'crypto.Hash', opts: 5 },
  ecdsa_secp384r1_sha384: { hash: 'sha384', type: 'crypto.Hash', opts: 6 },
  ecdsa_secp521r1_sha512: { hash: 'sha512', type: 'crypto.Hash', opts: 7 },
  ed25519: { hash: undefined, type: 'crypto.Hash', opts: 0 },
} as const

export type Scheme = keyof typeof SCHEMES

export function signRequest(scheme: Scheme, configuration: Configuration): object {
  const { hash, type, opts } = SCHEMES[scheme]
  const digest = hash === undefined ? MESSAGE : createHash(hash).update(MESSAGE).digest()
  return {
    apiVersion: VERSION,
    kind: 'SignRequest',
    digest: digest.toString('base64'),
    configuration,
    signerOptsType: type,
    signerOpts: JSON.stringify(opts),
  }
}

export function isGoodSignature(scheme: Scheme, key: KeyObject, signature: string): boolean {
  const { hash } = SCHEMES[scheme]
  const padding = {
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  }
  const how = scheme.startsWith('rsa') ? { key, ...padding } : key
  return verify(hash, MESSAGE, how, Buffer.from(signature, 'base64'))
}

/** Sends the signer one request, as a client does that starts a process for each. */
export function ask(request: object, env: Environment): Promise<Ended> {
  return start([], { ...env, EXTERNAL_SIGNER_PLUGIN_CONFIG: JSON.stringify(request) }).ended()
}

export async function askCertificate(
  configuration: Configuration,
  env: Environment,
): Promise<X509Certificate> {
  const { status, out, err } = await ask(certificateRequest(configuration), env)
  if (status !== 0) throw new Error(err)
  return new X509Certificate(Buffer.from(JSON.parse(out).certificate, 'base64'))
}

/** Requests a signature. Returns it in base64, or throws the error output of the signer. */
export async function askSignature(
  scheme: Scheme,
  configuration: Configuration,
  env: Environment,
): Promise<string> {
  const { status, out, err } = await ask(signRequest(scheme, configuration), env)
  if (status !== 0) throw new Error(err)
  return JSON.parse(out).signature
}

export interface KeptSigner {
  readonly signer: RunningProgram
  readonly requests: Writable
  /** Sends a request and waits for its response. */
  next(request: object): Promise<Readonly<Record<string, string>>>
  end(): Promise<Ended>
}

/** Starts a signer that is kept running. It gets the first request at its start; `next` waits for that response too. */
export function startKept(first: object, env: Environment, options: SpawnOptions = {}): KeptSigner {
  const signer = start(
    [],
    { ...env, EXTERNAL_SIGNER_PLUGIN_CONFIG: JSON.stringify(first), KUBECRED_SIGNER_FD: '3' },
    { stdio: ['ignore', 'pipe', 'pipe', 'pipe'], ...options },
  )
  const requests = signer.child.stdio[3] as Writable
  requests.on('error', () => {})
  const answered = async (count: number): Promise<Readonly<Record<string, string>>> => {
    await signer.until('out', new RegExp(`(?:[^\\n]*\\n){${count}}`))
    return JSON.parse(signer.out.split('\n')[count - 1] ?? '')
  }
  let count = 1
  return {
    signer,
    requests,
    async next(request) {
      if (count === 1) await answered(1)
      count += 1
      requests.write(`${JSON.stringify(request)}\n`)
      return await answered(count)
    },
    async end() {
      requests.end()
      return await signer.ended()
    },
  }
}
