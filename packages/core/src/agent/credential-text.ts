import type { Credential } from '../protocol/credential.ts'
import type { ApiVersion } from '../protocol/exec-config.ts'
import { encodeJson } from '../protocol/json.ts'
import { formatRfc3339 } from '../protocol/rfc3339.ts'

/** Writes a credential as the plugin would have: one of the few places where secrets leave their boxes. */
export function credentialAnswer(
  { token, certificate }: Credential,
  expiresAt: number,
  apiVersion: ApiVersion,
): string {
  return encodeJson({
    kind: 'ExecCredential',
    apiVersion,
    status: {
      expirationTimestamp: Number.isFinite(expiresAt)
        ? formatRfc3339(Math.floor(expiresAt / 1000) * 1000)
        : undefined,
      token: token?.expose(),
      clientCertificateData: certificate?.chain,
      clientKeyData: certificate?.key?.expose(),
    },
  })
}
