import type { ExposedCredential } from 'kubecred'
import { NotSupportedError } from 'kubecred/internal'
import type { Call, Run } from '../command.ts'
import { EXIT } from '../exit-status.ts'
import { wantsJson } from '../flags/wants-json.ts'
import { describeSource } from '../render/describe-source.ts'
import { printableJson } from '../render/printable.ts'
import { withSession } from '../session.ts'
import { UsageError } from '../usage-error.ts'

const GROUP = 'client.authentication.k8s.io'

/** `token`: prints the credential of a context as an ExecCredential. */
export const token: Run = async (call) => {
  wantsJson(call.flags)
  const apiVersion = readApiVersion(call)
  return withSession(call, async (cluster) => {
    const status = asStatus(await cluster.credential({ signal: call.signal }))
    call.progress.end()
    if (status === undefined) {
      const source = describeSource(cluster.status().credential.source)
      throw new UsageError(
        `this context has neither a token nor a certificate to print: it uses ${source}`,
        'token',
      )
    }
    if (call.io.isTerminal.stdout) {
      call.stderr.warn('the output is a secret; clear the screen when you are done')
    }
    const answer = { kind: 'ExecCredential', apiVersion, spec: { interactive: false }, status }
    call.io.stdout.write(printableJson(`${JSON.stringify(answer, null, 2)}\n`))
    return EXIT.done
  })
}

function readApiVersion({ flags }: Call): string {
  const version = (flags.text('api-version') ?? 'v1').replace(`${GROUP}/`, '')
  if (version === 'v1' || version === 'v1beta1') return `${GROUP}/${version}`
  throw new UsageError(
    `flag --api-version takes v1 or v1beta1, not ${JSON.stringify(version)}`,
    'token',
  )
}

/** Exposes the secrets, which is the purpose of this command. */
function asStatus({ token, certificate, expiresAt }: ExposedCredential): object | undefined {
  if (token === undefined && certificate === undefined) return undefined
  if (certificate?.signingKey !== undefined) {
    throw new NotSupportedError('the private key of this user is not exportable', {
      hint: 'Use kubecred run to let a tool use this key, such as kubecred run -- kubectl get pods.',
    })
  }
  return {
    ...(expiresAt !== undefined && { expirationTimestamp: asTimestamp(expiresAt) }),
    ...(token && { token: token.expose() }),
    ...(certificate && {
      clientCertificateData: certificate.chain,
      clientKeyData: certificate.key.expose(),
    }),
  }
}

/** The last second that RFC 3339 can express. */
const LAST_SECOND_MS = Date.UTC(9999, 11, 31, 23, 59, 59)

/** Whole seconds, rounded down: a credential must not seem to expire later than it does. */
function asTimestamp(milliseconds: number): string {
  const shown = Math.min(milliseconds, LAST_SECOND_MS)
  return new Date(shown).toISOString().replace(/\.\d+Z$/, 'Z')
}
