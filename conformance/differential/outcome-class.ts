import { CODES } from '../../packages/core/src/errors/codes.ts'
import type { Ended, Program } from './type-command.ts'

/** The outcome of a command, in terms that fit both programs. */
export type OutcomeClass =
  | 'ok'
  | `status ${number}`
  | 'configuration'
  | 'plugin'
  | 'policy'
  | 'tls'
  | 'network'
  /** Not valid in HTTP. */
  | 'cannot be sent'
  /** Two ways in which kubectl continues without a configuration. */
  | 'asks for a user name'
  | 'tries localhost:8080'
  | `something else: ${string}`

/** kubectl always exits with 1, so its messages are matched; the first match is used. */
const WORDS: readonly (readonly [RegExp, OutcomeClass])[] = [
  [/Please enter Username/, 'asks for a user name'],
  [/localhost:8080 was refused/, 'tries localhost:8080'],
  [/invalid header field value/, 'cannot be sent'],
  [/cannot be resolved for credential plugin allowlist check/, 'plugin'],
  [/not allowed: policy|allowlist|plugin policy|applying preferences/i, 'policy'],
  [/exec plugin: invalid apiVersion/, 'configuration'],
  [/getting credentials|exec plugin:/, 'plugin'],
  [/private key does not match|failed to find any PEM data/, 'configuration'],
  [/proxyconnect|(was|connection) refused|no such host|i\/o timeout/, 'network'],
  // A server that closes the connection: the message depends on the state of the client at that time.
  [
    /\bEOF|broken pipe|connection reset|use of closed network connection|http2: client conn/,
    'network',
  ],
  [/x509|tls:|server gave HTTP response to HTTPS client/, 'tls'],
  [
    /^error: |invalid configuration|Error in configuration|invalid control character|No valid id-token/m,
    'configuration',
  ],
]

/** Error codes whose exit status is not specific. */
const BY_CODE: Readonly<Record<string, OutcomeClass>> = {
  ERR_PLUGIN_DENIED: 'policy',
  ERR_POLICY_INVALID: 'policy',
  ERR_SERVER_UNREACHABLE: 'network',
  ERR_PROXY_FAILED: 'network',
  ERR_SERVER_UNTRUSTED: 'tls',
  ERR_CERTIFICATE_REFUSED: 'tls',
}

/** Classifies the outcome of a command; `lastStatus` is the status of the server's last response. */
export function classify(
  { name }: Program,
  ended: Ended,
  lastStatus: number | undefined,
): OutcomeClass {
  if (ended.status === 0) return 'ok'
  if (lastStatus !== undefined && lastStatus >= 400) return `status ${lastStatus}`
  const text = `${ended.stdout}\n${ended.stderr}`.trim()
  return (name === 'kubectl' ? byWords(text) : byStatus(ended)) ?? `something else: ${text}`
}

function byWords(text: string): OutcomeClass | undefined {
  return WORDS.find(([pattern]) => pattern.test(text))?.[1]
}

function byStatus({ status }: Ended): OutcomeClass | undefined {
  if (status === 2) return 'configuration'
  const [code, facts] = Object.entries(CODES).find(([, each]) => each.exit === status) ?? []
  if (code === undefined || facts === undefined) return undefined
  const byFault = { kubeconfig: 'configuration', plugin: 'plugin' } as const
  return BY_CODE[code] ?? byFault[facts.fault as keyof typeof byFault]
}
