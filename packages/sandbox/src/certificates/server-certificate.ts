import type { Authority, KeyedCertificate } from './authority.ts'
import type { AlternativeName } from './x509-module.ts'

/** A DNS name that the server certificate is valid for, in addition to `localhost` and the loopback addresses. */
export const SERVER_NAME = 'sandbox.kubecred.test'

const NAMES: readonly AlternativeName[] = [
  { type: 'ip', value: '127.0.0.1' },
  { type: 'ip', value: '::1' },
  { type: 'dns', value: 'localhost' },
  { type: 'dns', value: SERVER_NAME },
]
const DAY_MS = 86_400_000

/** Issues the certificate of the sandbox's server. */
export async function issueServerCertificate(authority: Authority): Promise<KeyedCertificate> {
  const now = Date.now()
  return authority.issue({
    subject: [{ CN: ['kube-apiserver'] }],
    notBefore: new Date(now - DAY_MS),
    notAfter: new Date(now + 365 * DAY_MS),
    usage: 'server',
    alternativeNames: NAMES,
  })
}
