import type { TokenOptions } from './authentication/tokens.ts'
import type { CertificateOptions } from './certificates/client-certificates.ts'
import { checkOptionNames } from './check-names.ts'
import type { PluginOptions } from './plugin/plugin-options.ts'
import type { SandboxOptions } from './sandbox-options.ts'
import type { RestartOptions } from './server/listener.ts'

/** @throws {TypeError} An option is unknown. */
export function checkSandboxOptions(options: SandboxOptions): void {
  checkOptionNames(options, 'startSandbox()', SANDBOX)
}

/** @throws {TypeError} An option is unknown. */
export function checkTokenOptions(options: TokenOptions): void {
  checkOptionNames(options, 'issueToken()', TOKEN)
}

/** @throws {TypeError} An option is unknown. */
export function checkCertificateOptions(options: CertificateOptions): void {
  checkOptionNames(options, 'issueCertificate()', CERTIFICATE)
}

/** @throws {TypeError} An option is unknown. */
export function checkRestartOptions(options: RestartOptions): void {
  checkOptionNames(options, 'restart()', { downMs: true } satisfies Record<
    keyof RestartOptions,
    true
  >)
}

/** @throws {TypeError} An option is unknown. */
export function checkPluginOptions(options: PluginOptions): void {
  checkOptionNames(options, 'plugin()', PLUGIN)
  const { credential = 'token' } = options
  if (!ANSWERS.includes(credential)) {
    throw new TypeError(
      `option credential of plugin() must be one of ${ANSWERS.join(', ')}, not ${JSON.stringify(credential)}`,
    )
  }
}

const ANSWERS = ['token', 'certificate', 'both']

const SANDBOX = {
  port: true,
  http: true,
  http2: true,
  requireClientCertificate: true,
  separateClientAuthority: true,
  anonymous: true,
  basic: true,
  forbid: true,
  onProxyRequest: true,
  clockSkewMs: true,
  now: true,
  bookmarkIntervalMs: true,
  watchWindow: true,
} satisfies Record<keyof SandboxOptions, true>

const TOKEN = {
  user: true,
  groups: true,
  uid: true,
  lifetimeMs: true,
} satisfies Record<keyof TokenOptions, true>

const CERTIFICATE = {
  user: true,
  groups: true,
  lifetimeMs: true,
  notBefore: true,
  intermediate: true,
  untrusted: true,
  publicKey: true,
} satisfies Record<keyof CertificateOptions, true>

const PLUGIN = {
  user: true,
  groups: true,
  credential: true,
  lifetimeMs: true,
  delayMs: true,
  apiVersion: true,
  stdout: true,
  stderr: true,
  exitCode: true,
} satisfies Record<keyof PluginOptions, true>
