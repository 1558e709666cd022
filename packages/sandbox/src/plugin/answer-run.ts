import type { IssuedToken, TokenOptions } from '../authentication/tokens.ts'
import type { CertificateOptions, IssuedCertificate } from '../certificates/client-certificates.ts'
import type { PluginOptions, PluginOutput } from './plugin-options.ts'

/** Issues the credentials of plugins. */
export interface Issuer {
  issueToken(options: TokenOptions): IssuedToken
  issueCertificate(options: CertificateOptions): Promise<IssuedCertificate>
}

const DEFAULT_API_VERSION = 'client.authentication.k8s.io/v1'

/** Returns the output of one run of a plugin. */
export async function answerRun(
  options: PluginOptions,
  execInfo: unknown,
  issuer: Issuer,
): Promise<PluginOutput> {
  const { stderr = '', exitCode = 0 } = options
  if (options.stdout !== undefined) return { stdout: options.stdout, stderr, exitCode }
  if (exitCode !== 0) return { stdout: '', stderr, exitCode }
  const credential = {
    kind: 'ExecCredential',
    apiVersion: options.apiVersion ?? versionOf(execInfo) ?? DEFAULT_API_VERSION,
    status: await issueStatus(options, issuer),
  }
  return { stdout: `${JSON.stringify(credential)}\n`, stderr, exitCode }
}

function versionOf(execInfo: unknown): string | undefined {
  if (typeof execInfo !== 'object' || execInfo === null) return undefined
  const { apiVersion }: { apiVersion?: unknown } = execInfo
  return typeof apiVersion === 'string' ? apiVersion : undefined
}

async function issueStatus(
  options: PluginOptions,
  issuer: Issuer,
): Promise<Record<string, string | undefined>> {
  const { user, groups = [], lifetimeMs, credential = 'token' } = options
  const subject = { user, groups, ...(lifetimeMs === undefined ? {} : { lifetimeMs }) }
  const status: Record<string, string | undefined> = {}
  if (credential !== 'token') {
    const { certificate, key, notAfter } = await issuer.issueCertificate(subject)
    status['clientCertificateData'] = certificate
    status['clientKeyData'] = key
    status['expirationTimestamp'] = notAfter.toISOString()
  }
  if (credential !== 'certificate') {
    const { token, expirationTimestamp = status['expirationTimestamp'] } =
      issuer.issueToken(subject)
    status['token'] = token
    status['expirationTimestamp'] = expirationTimestamp
  }
  return status
}
