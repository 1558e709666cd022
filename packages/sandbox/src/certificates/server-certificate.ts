import type { Authority, KeyedCertificate } from './authority.ts'
import type { AlternativeName } from './x509-module.ts'

/** The name, besides the addresses, that the server certificate is good for. */
export const SERVER_NAME = 'sandbox.kubecred.test'

const NAMES: readonly AlternativeName[] = [
  { type: 'ip', value: '127.0.0.1' },
  { type: 'ip', value: '::1' },
  { type: 'dns', value: 'localhost' },
  { type: 'dns', value: SERVER_NAME },
]
const DAY_MS = 86_400_000

/** Issues the certificate that the sandbox shows to its clients. */
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
