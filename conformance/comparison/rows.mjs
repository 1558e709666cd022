// Turns the recorded facts into the rows of the comparison. Every cell is made from measurements, except for the rows at
// the end, which name their source.

/** A row: `cell` makes the text of a client from its facts, `short` is the label in the README; `read` has facts that were not measured. */
export const ROWS = [
  {
    what: '100 requests at once, no credential yet: plugin runs',
    short: '100 requests at once, cold',
    cell: ({ cold }) => count(cold.runs, 'plugin run'),
  },
  {
    what: '15 s of load, tokens of 5 s, a plugin that takes 1 s: requests that waited more than 0.5 s, and failed ones',
    short: 'a token expires under load',
    cell: ({ expiry }) =>
      `${number(expiry.slow)} of ${number(expiry.requests)} requests waited, ${number(expiry.failed)} failed; ${count(expiry.runs, 'plugin run')}`,
    shortCell: ({ expiry }) => `${count(expiry.slow, 'request')} waited, ${expiry.failed} failed`,
  },
  {
    what: 'a token without an expiry is revoked: the next three requests',
    cell: ({ revoked }) =>
      `${revoked.next.join(', ')}; ${count(revoked.runs, 'plugin run')} for 4 requests`,
  },
  {
    what: 'a token is revoked 5 s before it expires: the next three requests, and one after the expiry',
    short: 'a token is revoked before its expiry',
    cell: ({ revokedEarly }) =>
      `${revokedEarly.next.join(', ')}; after the expiry ${revokedEarly.afterExpiry}`,
    shortCell: ({ revokedEarly: { next } }) => {
      const refused = next.filter((status) => status === 401).length
      if (refused === 0) return 'no caller gets a 401'
      return refused === next.length ? '401 until it expires' : 'one 401, then 200'
    },
  },
  {
    what: 'a plugin hangs, three requests at once',
    short: 'a plugin hangs',
    cell: ({ hang }) => `${hangs(hang)}; ${count(hang.runs, 'plugin process', 'es')}`,
    shortCell: ({ hang }) => hangs(hang),
  },
  {
    what: 'a plugin prints without end (watched until the client has used 1 GiB)',
    cell: ({ flood }) => `${floods(flood)}; ${flood.grewMiB} MiB more memory`,
  },
  {
    what: 'a plugin writes “Run: example login” to standard error and exits with 3: the error',
    cell: ({ failure }) => quote(failure.error),
  },
  {
    what: 'a plugin is killed: the error',
    cell: ({ death }) => quote(death.error),
  },
  {
    what: 'a certificate changes under an open watch',
    short: 'a certificate changes under a watch',
    cell: ({ certificate: { seen, after } }) =>
      `${watchEnds(seen)}; the next requests: ${after.join(', ')} with the new certificate`,
    shortCell: ({ certificate }) => watchEnds(certificate.seen),
  },
  {
    what: 'the server ends an informer’s watch while the plugin fails (kubecred: attached to client-node 1)',
    cell: ({ informer }) => {
      if (informer.ended) return 'the process ends'
      return informer.seen ? 'the informer continues' : 'the informer stops'
    },
  },
  {
    what: 'a key in a PKCS#11 token (SoftHSM), named in the kubeconfig; TLS 1.3',
    cell: ({ signer: { newest } }) => {
      if (newest.status === 200) return '200'
      return newest.isAnonymous
        ? `${newest.status}, sent without a credential`
        : quote(newest.error)
    },
  },
  {
    what: 'the same with a server that supports only TLS 1.2',
    cell: ({ signer: { older } }) => (older.error ? quote(older.error) : String(older.status)),
  },
  {
    what: 'a 429 with Retry-After: 1',
    short: 'a 429 with Retry-After',
    cell: ({ busy }) => retried(busy['429']),
  },
  { what: 'a 503 with Retry-After: 1', cell: ({ busy }) => retried(busy['503']) },
  { what: 'a 500', cell: ({ busy }) => retried(busy['500']) },
  {
    what: 'HTTP version, with a server that offers both',
    short: 'HTTP/2 by default',
    cell: ({ cold }) => (cold.httpVersion === '2.0' ? 'HTTP/2' : 'HTTP/1.1'),
    shortCell: ({ cold }) => (cold.httpVersion === '2.0' ? 'yes' : 'no'),
  },
  {
    what: 'small lists per second, as a share of client-go’s, 8 workers, HTTP/1.1',
    short: 'requests per second (client-go is 1)',
    cell: ({ rate }) => `${rate.ratio.toFixed(2)} (${number(rate.perSecond)})`,
    shortCell: ({ rate }) => rate.ratio.toFixed(2),
  },
  {
    what: 'types of the API’s objects, informers',
    short: 'API types and informers',
    read: {
      'client-go': 'yes',
      'client-node 1': 'yes',
      'client-node 2': 'yes',
      kubecred: 'none of its own; `attach` gives its credentials to client-node',
    },
    shortRead: { kubecred: 'none of its own' },
    where:
      '`k8s.io/api` and `k8s.io/client-go/informers`; `dist/gen` and `makeInformer` of client-node; `packages/core/src/index.ts`',
  },
  {
    what: 'platforms',
    read: {
      'client-go': 'kubectl, built on it, is released for Linux, macOS and Windows',
      'client-node 1': 'tested on Linux',
      'client-node 2': 'tested on Linux',
      kubecred: 'tested on Linux; not yet run on macOS and Windows',
    },
    where:
      'kubernetes.io/releases/download; `.github/workflows/test.yml` of kubernetes-client/javascript; `tools/matrix.mjs`',
  },
]

const seconds = (ms) => (ms < 10_000 ? (ms / 1000).toFixed(1) : String(Math.round(ms / 1000)))
const number = (value) => value.toLocaleString('en-US')
const count = (value, noun, plural = 's') => `${number(value)} ${noun}${value === 1 ? '' : plural}`
const watchEnds = (seen) => (seen ? 'the watch continues' : 'the watch is cut')

function hangs({ results }) {
  const { waiting, ms } = results.at(-1)
  return waiting ? `still waiting after ${seconds(ms)} s` : `fails after ${seconds(ms)} s`
}

function floods({ ended, error, ms }) {
  if (ended) return `the process ends after ${seconds(ms)} s`
  return error ? `fails after ${seconds(ms)} s` : `still reading after ${seconds(ms)} s`
}

function retried({ status, sent }) {
  return sent > 1 ? `sent again: ${status}` : `${status} to the caller`
}

/** Returns an error message without the paths and ports of the run. */
function quote(error) {
  if (error === '') return 'an error without text'
  const text = error
    .trim()
    .replace(/\/\S*\/plugin\b/g, '…/plugin')
    .replace(/127\.0\.0\.1:\d+/g, 'HOST')
  return `“${text}”`
}
