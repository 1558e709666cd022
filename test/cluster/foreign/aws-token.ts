import { createHash, createHmac } from 'node:crypto'

/** The key of all users, in an account that does not exist: AWS is never contacted. */
export const AWS_SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'

const PREFIX = 'k8s-aws-v1.'
/** The lifetime of such a token, whatever its URL says. */
const LIFE_MS = 15 * 60_000
const EMPTY_BODY = createHash('sha256').digest('hex')

/** The owner of a token, and when it was signed. */
interface AwsIdentity {
  readonly keyId: string
  readonly madeAt: number
}

/**
 * Verifies an EKS token: a URL of STS, signed for one cluster.
 *
 * EKS would send that URL to STS. With the keys the signature can be verified locally, without the network. A token for
 * another cluster, a truncated one and an old one are invalid.
 */
export function readAwsToken(token: string, cluster: string, now: number): AwsIdentity | undefined {
  if (!token.startsWith(PREFIX)) return undefined
  const address = Buffer.from(token.slice(PREFIX.length), 'base64url').toString()
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !/^sts\.[\w.-]*amazonaws\.com$/.test(url.host)) return undefined
  const query = url.searchParams
  const [keyId = '', ...scope] = (query.get('X-Amz-Credential') ?? '').split('/')
  const madeAt = readDate(query.get('X-Amz-Date') ?? '')
  const isGood =
    keyId !== '' &&
    query.get('Action') === 'GetCallerIdentity' &&
    query.get('X-Amz-Signature') === signatureOf(url, cluster, scope) &&
    now < madeAt + LIFE_MS
  return isGood ? { keyId, madeAt } : undefined
}

/** Computes Signature Version 4, with the name of the cluster in a header that is not part of the URL. */
function signatureOf(url: URL, cluster: string, scope: readonly string[]): string {
  const signed = url.searchParams.get('X-Amz-SignedHeaders') ?? ''
  const values: Record<string, string> = { host: url.host, 'x-k8s-aws-id': cluster }
  const headers = signed.split(';').map((name) => `${name}:${values[name] ?? ''}\n`)
  const query = [...url.searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map((pair) => pair.map(encode).join('='))
    .sort()
  const request = ['GET', url.pathname, query.join('&'), headers.join(''), signed, EMPTY_BODY]
  const digest = createHash('sha256').update(request.join('\n')).digest('hex')
  const date = url.searchParams.get('X-Amz-Date') ?? ''
  const text = ['AWS4-HMAC-SHA256', date, scope.join('/'), digest].join('\n')
  const seal = (key: string | Buffer, word: string): Buffer =>
    createHmac('sha256', key).update(word).digest()
  return seal(scope.reduce<string | Buffer>(seal, `AWS4${AWS_SECRET}`), text).toString('hex')
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** Parses a time such as `20261116T072513Z`. */
function readDate(text: string): number {
  const iso = text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')
  return Date.parse(iso)
}
