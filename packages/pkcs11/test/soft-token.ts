import { spawnSync } from 'node:child_process'
import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** SoftHSM: a real PKCS#11 library with its tokens in files. */
export const SOFTHSM = '/usr/lib/softhsm/libsofthsm2.so'
/** OpenSC's library that wraps another library and logs every call. */
const SPY = findLibrary('pkcs11-spy.so')
export const PIN = '123456'

/** Finds a library in Debian's folder of the architecture. */
export function findLibrary(name: string): string {
  const folders = existsSync('/usr/lib') ? readdirSync('/usr/lib') : []
  const all = folders
    .filter((each) => each.includes('-linux-'))
    .map((each) => join('/usr/lib', each, name))
  return all.find((path) => existsSync(path)) ?? name
}

/** Whether SoftHSM and OpenSC are installed; {@link NEEDS} has the command that installs them. */
export const hasSoftHsm =
  existsSync(SOFTHSM) &&
  existsSync(SPY) &&
  spawnSync('pkcs11-tool', ['--version']).error === undefined
export const NEEDS = 'needs softhsm2 and opensc: apt-get install softhsm2 opensc'

export interface KeyOptions {
  readonly type:
    | 'RSA:2048'
    | 'RSA:1024'
    | 'EC:prime256v1'
    | 'EC:secp384r1'
    | 'EC:secp521r1'
    | 'EC:secp256k1'
    | 'EC:edwards25519'
  readonly id: string
  readonly label: string
  readonly alwaysAuthenticate?: boolean
}

/** The tokens of one test file, in their own folder. */
export class SoftHsm {
  readonly folder = mkdtempSync(join(tmpdir(), 'kubecred-hsm-'))
  readonly environment: Readonly<Record<string, string>>
  readonly #log = join(this.folder, 'calls')

  constructor() {
    const tokens = join(this.folder, 'tokens')
    mkdirSync(tokens)
    const configuration = join(this.folder, 'softhsm2.conf')
    writeFileSync(
      configuration,
      `directories.tokendir = ${tokens}\nobjectstore.backend = file\nlog.level = ERROR\n`,
    )
    // The TPM library creates a database when it is loaded, and `list` loads every library.
    this.environment = { SOFTHSM2_CONF: configuration, TPM2_PKCS11_STORE: this.folder }
    this.#makeAuthority()
  }

  /** The library and environment that log the calls to SoftHSM, with a fresh log. */
  get spied(): { library: string; environment: Readonly<Record<string, string>> } {
    rmSync(this.#log, { force: true })
    const environment = { ...this.environment, PKCS11SPY: SOFTHSM, PKCS11SPY_OUTPUT: this.#log }
    return { library: SPY, environment }
  }

  /** How often a function was called through the spy. Clears the log. */
  callsOf(name: string): number {
    const text = existsSync(this.#log) ? readFileSync(this.#log, 'utf8') : ''
    rmSync(this.#log, { force: true })
    return text.split('\n').filter((line) => line.endsWith(`: ${name}`)).length
  }

  addToken(label: string, pin = PIN): void {
    this.run('softhsm2-util', [
      ...['--init-token', '--free', '--label', label, '--so-pin', '12345678', '--pin', pin],
    ])
  }

  /** Generates a key in the token. */
  addKey(
    token: string,
    { type, id, label, alwaysAuthenticate = false }: KeyOptions,
    pin = PIN,
  ): void {
    this.#tool(token, pin, [
      ...['--keypairgen', '--key-type', type, '--id', id, '--label', label, '--usage-sign'],
      ...(alwaysAuthenticate ? ['--always-auth'] : []),
    ])
  }

  publicKey(token: string, id: string): KeyObject {
    return readPublicKey((args) => this.#tool(token, undefined, args), id, this.#file('public'))
  }

  /** Issues a certificate for a key, and stores it in the token. */
  addCertificate(
    token: string,
    id: string,
    { label = 'certificate', subject = '/CN=jane/O=dev', days = 30, forId = id } = {},
  ): X509Certificate {
    const file = this.#issue(token, forId, subject, days)
    const name = ['--id', id, '--label', label]
    this.#tool(token, PIN, ['--write-object', file, '--type', 'cert', ...name])
    return new X509Certificate(readFileSync(file))
  }

  /** Adds a certificate that is visible only after a login, which pkcs11-tool cannot do. */
  addHiddenCertificate(token: string, id: string): X509Certificate {
    const file = this.#issue(token, id, '/CN=hidden', 30)
    this.run(process.execPath, ['-e', HIDE, SOFTHSM, token, PIN, id, file])
    return new X509Certificate(readFileSync(file))
  }

  /** Imports a key and its certificate, both PEM, into a token. */
  importPair(token: string, id: string, certificate: string, key: string, pin = PIN): void {
    const [keyFile, file] = [this.#file('imported.key'), this.#file('imported.der')]
    writeFileSync(keyFile, key, { mode: 0o600 })
    writeFileSync(file, new X509Certificate(certificate).raw)
    const where = ['--token', token, '--label', 'imported', '--id', id, '--pin', pin]
    this.run('softhsm2-util', ['--import', keyFile, ...where])
    const name = ['--id', id, '--label', 'imported']
    this.#tool(token, pin, ['--write-object', file, '--type', 'cert', ...name])
  }

  serialOf(token: string): string {
    return /Serial number:\s+(\w+)/.exec(this.#slot(token))?.[1] ?? ''
  }

  slotOf(token: string): string {
    return /^(\d+)/.exec(this.#slot(token))?.[1] ?? ''
  }

  /** Whether a wrong PIN was entered since the last correct one. */
  isPinCountLow(token: string): boolean {
    return this.#tool(token, undefined, ['--list-slots']).includes('user PIN count low')
  }

  run(command: string, args: readonly string[]): string {
    const env = { ...process.env, ...this.environment }
    const { status, stdout, stderr } = spawnSync(command, args, { env, encoding: 'utf8' })
    if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`)
    return stdout
  }

  #slot(token: string): string {
    const slots = this.run('softhsm2-util', ['--show-slots']).split(/^Slot /m)
    return slots.find((each) => each.includes(`Label:            ${token} `)) ?? ''
  }

  #issue(token: string, id: string, subject: string, days: number): string {
    const key = this.#file('key.pem')
    writeFileSync(key, this.publicKey(token, id).export({ type: 'spki', format: 'pem' }))
    const file = this.#file('certificate.der')
    const authority = ['-CA', this.#file('ca.pem'), '-CAkey', this.#file('ca.key')]
    this.run('openssl', [
      ...['x509', '-new', '-force_pubkey', key, '-subj', subject, '-days', String(days)],
      ...[...authority, '-outform', 'DER', '-out', file],
    ])
    return file
  }

  #file(name: string): string {
    return join(this.folder, name)
  }

  #tool(token: string, pin: string | undefined, args: readonly string[]): string {
    const login = pin === undefined ? [] : ['--login', '--pin', pin]
    return this.run('pkcs11-tool', ['--module', SOFTHSM, '--token-label', token, ...login, ...args])
  }

  #makeAuthority(): void {
    this.run('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
      ...['-subj', '/CN=test-ca', '-days', '365'],
      ...['-keyout', this.#file('ca.key'), '-out', this.#file('ca.pem')],
    ])
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Reads a public key with pkcs11-tool, which can write only some types to a file. */
export function readPublicKey(
  tool: (args: readonly string[]) => string,
  id: string,
  file: string,
): KeyObject {
  const all = tool(['--list-objects', '--type', 'pubkey']).split('Public Key Object')
  const shown = all.find((each) => new RegExp(`ID: +${id}$`, 'm').test(each)) ?? ''
  const [, point] = /EC_POINT: +04(?:81)?[0-9a-f]{2}((?:[0-9a-f]{2})+)$/m.exec(shown) ?? []
  if (point !== undefined) return keyOfPoint(Buffer.from(point, 'hex'))
  tool(['--read-object', '--type', 'pubkey', '--id', id, '-o', file])
  return createPublicKey({ key: readFileSync(file), format: 'der', type: 'spki' })
}

/** Returns the key of a point. The length of the point determines the curve. */
function keyOfPoint(point: Buffer): KeyObject {
  if (point.length === 32) {
    const key = { kty: 'OKP', crv: 'Ed25519', x: point.toString('base64url') }
    return createPublicKey({ key, format: 'jwk' })
  }
  const half = (point.length - 1) / 2
  const [x, y] = [point.subarray(1, 1 + half), point.subarray(1 + half)]
  const crv = { 32: 'P-256', 48: 'P-384', 66: 'P-521' }[half] ?? ''
  const key = { kty: 'EC', crv, x: x.toString('base64url'), y: y.toString('base64url') }
  return createPublicKey({ key, format: 'jwk' })
}

const HIDE = `
const [library, token, pin, id, file] = process.argv.slice(1)
const p = require('pkcs11js')
const lib = new p.PKCS11()
lib.load(library)
lib.C_Initialize()
const slot = lib.C_GetSlotList(true).find((s) => lib.C_GetTokenInfo(s).label.trimEnd() === token)
const session = lib.C_OpenSession(slot, p.CKF_SERIAL_SESSION | p.CKF_RW_SESSION)
lib.C_Login(session, p.CKU_USER, pin)
lib.C_CreateObject(session, [
  { type: p.CKA_CLASS, value: p.CKO_CERTIFICATE },
  { type: p.CKA_CERTIFICATE_TYPE, value: p.CKC_X_509 },
  { type: p.CKA_TOKEN, value: true },
  { type: p.CKA_PRIVATE, value: true },
  { type: p.CKA_ID, value: Buffer.from(id, 'hex') },
  { type: p.CKA_SUBJECT, value: Buffer.from([0x30, 0]) },
  { type: p.CKA_VALUE, value: require('node:fs').readFileSync(file) },
])
lib.C_Finalize()
`
