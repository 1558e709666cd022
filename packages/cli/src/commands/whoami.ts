import type { Cluster, SourceLabel } from 'kubecred'
import { type PlainResponse, ServerResponseInvalidError } from 'kubecred/internal'
import type { Call, Run } from '../command.ts'
import { EXIT } from '../exit-status.ts'
import { explainErrorResponse } from '../fetch/explain-error-response.ts'
import { sendLogged } from '../fetch/send-logged.ts'
import { readText } from '../fetch/write-body.ts'
import { withTimeLimit } from '../flags/time-limit.ts'
import { wantsJson } from '../flags/wants-json.ts'
import { describeSource } from '../render/describe-source.ts'
import { printableJson, printableLine } from '../render/printable.ts'
import { withSession } from '../session.ts'

const PATH = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
/** Far more than a user with thousands of groups needs. */
const MAX_REVIEW_BYTES = 1024 * 1024
const BODY = '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}'

/** What `whoami -o json` prints. */
interface Identity {
  readonly username: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
  readonly through: SourceLabel
  readonly context?: string
  readonly cluster?: string
  readonly server: string
}

/** `whoami`: shows the user that the server sees, and the source of the credential. */
export const whoami: Run = async (call) => {
  const isJson = wantsJson(call.flags)
  return withSession(call, async (cluster) => {
    const signal = withTimeLimit(call.signal, call.flags, 'request-timeout')
    const response = await ask(call, cluster, signal)
    const text = await readText(response, signal, cluster.server, MAX_REVIEW_BYTES)
    if (response.status >= 400) {
      return explainErrorResponse(call, cluster, { response, text, path: PATH, remarks: REMARKS })
    }
    const identity = readIdentity(text, cluster)
    const shown = call.stderr.hide(isJson ? `${JSON.stringify(identity)}\n` : describe(identity))
    call.io.stdout.write(isJson ? printableJson(shown) : shown)
    return EXIT.done
  })
}

const REMARKS: Readonly<Record<number, string>> = {
  404: 'This server does not have SelfSubjectReview (authentication.k8s.io/v1): whoami needs Kubernetes 1.28 or later.',
}

function ask(call: Call, cluster: Cluster, signal: AbortSignal): Promise<PlainResponse> {
  return sendLogged(call, cluster, PATH, {
    method: 'POST',
    headers: [
      ['content-type', 'application/json'],
      ['accept', 'application/json'],
    ],
    body: Buffer.from(BODY),
    signal,
  })
}

function readIdentity(text: string, cluster: Cluster): Identity {
  const { context, cluster: name, server, credential } = cluster.status()
  const { username = '', uid, groups = [], extra } = parseUserInfo(text, server)
  return {
    username,
    ...(uid !== undefined && { uid }),
    groups,
    ...(extra !== undefined && { extra }),
    through: credential.source,
    ...(context !== undefined && { context }),
    ...(name !== undefined && { cluster: name }),
    server,
  }
}

type UserInfo = Partial<Pick<Identity, 'username' | 'uid' | 'groups' | 'extra'>>

/** @throws {ServerResponseInvalidError} If the response is something else, such as a login page. */
function parseUserInfo(text: string, server: string): UserInfo {
  const info = (parse(text) as { status?: { userInfo?: UserInfo } } | undefined)?.status?.userInfo
  const isUser =
    typeof info?.username === 'string' &&
    (info.uid === undefined || typeof info.uid === 'string') &&
    (info.groups === undefined || isTexts(info.groups)) &&
    Object.values(info.extra ?? {}).every(isTexts)
  if (!isUser) throw new ServerResponseInvalidError(server, 'a SelfSubjectReview that names a user')
  return info
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) ?? undefined
  } catch {
    return undefined
  }
}

function describe(identity: Identity): string {
  const { username, uid, groups, extra = {}, through, context, server } = identity
  const rows: [string, string][] = [
    ['user', username],
    ...(uid === undefined ? [] : [['uid', uid] satisfies [string, string]]),
    ...groups.map((group, index): [string, string] => [index === 0 ? 'groups' : '', group]),
    ...Object.entries(extra).map(([key, values]): [string, string] => [
      'extra',
      `${key}: ${values.join(', ')}`,
    ]),
    ['through', describeSource(through)],
    ['context', context ?? '(none)'],
    ['server', server],
  ]
  return rows
    .map(
      ([name, value]) => `${(name === '' ? '' : `${name}:`).padEnd(10)}${printableLine(value)}\n`,
    )
    .join('')
}
