import { createHash, createHmac } from 'node:crypto'

/** The key of everybody in an account that does not exist; nobody at Amazon is ever asked. */
export const AWS_SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'

const PREFIX = 'k8s-aws-v1.'
/** Such a token is good for so long, whatever its address says. */
const LIFE_MS = 15 * 60_000
const EMPTY_BODY = createHash('sha256').digest('hex')

/** Who a token is of, and when it was made. */
interface AwsIdentity {
  readonly keyId: string
  readonly madeAt: number
}

/**
 * Judges a token of EKS: an address of STS, signed for one cluster.
 *
 * Amazon would be sent that address. Who has the keys can do the sum alone, so no network is needed, and a token that was
 * made for another cluster, or cut short, or is too old is none.
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

/** As "Signature Version 4" has it, with the cluster's name in a header that the token does not show. */
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

/** `20261116T072513Z` */
function readDate(text: string): number {
  const iso = text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')
  return Date.parse(iso)
}
