import { execFile } from 'node:child_process'
import { createPublicKey, randomInt, X509Certificate } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import { type Environment, printableLine } from '@kubecred/cli/internal'

const start = promisify(execFile)

/** Where distributions put the library. */
const LIBRARIES = [
  '/usr/lib/softhsm/libsofthsm2.so',
  '/usr/lib64/softhsm/libsofthsm2.so',
  '/usr/lib64/pkcs11/libsofthsm2.so',
  '/usr/local/lib/softhsm/libsofthsm2.so',
  '/opt/homebrew/lib/softhsm/libsofthsm2.so',
]
const LABEL = 'kubecred-demo'
const KEY_ID = '02'
const TIMEOUT_MS = 10_000
const MAX_STDERR_LENGTH = 200

/** The programs and the library that a SoftHSM token needs. */
export interface TokenTools {
  readonly library: string
  readonly initialize: string
  readonly manage: string
  /** The program kubecred-pkcs11. */
  readonly signer: string
}

/** Finds what a SoftHSM token needs. @returns A message about the first thing that is missing, if any is. */
export function findTokenTools(env: Environment): TokenTools | string {
  const initialize = findProgram('softhsm2-util', env)
  if (initialize === undefined) return 'softhsm2-util is not installed'
  const library = LIBRARIES.find((path) => existsSync(path))
  if (library === undefined) return 'the SoftHSM library was not found'
  const manage = findProgram('pkcs11-tool', env)
  if (manage === undefined) return 'pkcs11-tool is not installed'
  const signer = findSigner() ?? findProgram('kubecred-pkcs11', env)
  if (signer === undefined) return 'kubecred-pkcs11 or its native module is not installed'
  return { library, initialize, manage, signer }
}

/** A SoftHSM token with a key that was generated in it, and its certificates. */
export class SoftToken {
  /** The public half of the key, as PEM. */
  readonly publicKey: string
  readonly #tools: TokenTools
  readonly #folder: string
  readonly #pin: string
  #certificates = 0

  private constructor(tools: TokenTools, folder: string, pin: string, publicKey: string) {
    this.#tools = tools
    this.#folder = folder
    this.#pin = pin
    this.publicKey = publicKey
  }

  /** Initialises the token and generates the key. */
  static async create(tools: TokenTools, folder: string): Promise<SoftToken> {
    mkdirSync(join(folder, 'tokens'), { mode: 0o700 })
    writeFileSync(
      join(folder, 'softhsm2.conf'),
      `directories.tokendir = ${join(folder, 'tokens')}\n`,
    )
    const pin = String(randomInt(1e7, 1e8))
    const env = tokenEnvironment(folder)
    const label = ['--label', LABEL, '--so-pin', pin, '--pin', pin]
    await run(tools.initialize, ['--init-token', '--free', ...label], env)
    const token = new SoftToken(tools, folder, pin, '')
    await token.#manage('--keypairgen', '--key-type', 'EC:prime256v1', '--usage-sign')
    const file = join(folder, 'public.der')
    await token.#manage('--read-object', '--type', 'pubkey', '-o', file)
    const key = createPublicKey({ key: readFileSync(file), format: 'der', type: 'spki' })
    return new SoftToken(tools, folder, pin, key.export({ type: 'spki', format: 'pem' }).toString())
  }

  /** Stores a certificate, and removes the one before the previous: the previous one may be in use. */
  async addCertificate(pem: string): Promise<void> {
    this.#certificates += 1
    const file = join(this.#folder, 'certificate.der')
    writeFileSync(file, new X509Certificate(pem).raw)
    const named = (number: number): string[] => ['--type', 'cert', '--label', `number ${number}`]
    await this.#manage('--write-object', file, ...named(this.#certificates))
    const old = this.#certificates - 2
    if (old > 0) await this.#manage('--delete-object', ...named(old))
  }

  /** The config of the auth-provider `externalSigner`. */
  get configuration(): Record<string, string> {
    const { signer, library } = this.#tools
    return { pathExec: signer, pathLib: library, tokenLabel: LABEL, objectIdHex: KEY_ID }
  }

  /** The variables that the signer needs, including the PIN. */
  get env(): Readonly<Record<string, string>> {
    return { ...tokenEnvironment(this.#folder), KUBECRED_PKCS11_PIN: this.#pin }
  }

  async #manage(...args: string[]): Promise<void> {
    const { manage, library } = this.#tools
    const login = ['--module', library, '--token-label', LABEL, '--login', '--pin', 'env:DEMO_PIN']
    const env = { ...tokenEnvironment(this.#folder), DEMO_PIN: this.#pin }
    await run(manage, [...login, '--id', KEY_ID, ...args], env)
  }
}

/** Runs a program until it exits. The error does not contain the arguments, because the PIN is among them. */
async function run(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<void> {
  try {
    await start(program, args, { env, timeout: TIMEOUT_MS })
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string }
    const message = printableLine(stderr ?? '').slice(0, MAX_STDERR_LENGTH)
    throw new Error(`${basename(program)} failed${message === '' ? ` (${code})` : `: ${message}`}`)
  }
}

function tokenEnvironment(folder: string): Record<string, string> {
  return { SOFTHSM2_CONF: join(folder, 'softhsm2.conf'), HOME: folder }
}

function findProgram(name: string, env: Environment): string | undefined {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder))
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
}

/** Finds the program of @kubecred/pkcs11, if its native module is installed, too. */
function findSigner(): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve('@kubecred/pkcs11/package.json')
    createRequire(manifest).resolve('pkcs11js')
    return join(dirname(manifest), 'bin/kubecred-pkcs11.mjs')
  } catch {
    return undefined
  }
}
