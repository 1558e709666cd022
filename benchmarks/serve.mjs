// An HTTPS server with one token, in a separate process. Sends its address and CA to its parent, and ends with it.
//
//   /x                              a small list
//   /api/v1/pods                    500 pods, compressed if the client accepts it
//   /api/v1/pods?watch=true&rate=N  N events per second; 0: as many as the client reads
//
// Arguments: the address to listen on (127.0.0.1), `http2` to offer HTTP/2 too, and `close` to close the connection after
// each response.
import { createSecureServer } from 'node:http2'
import { createServer } from 'node:https'
import { gzipSync } from 'node:zlib'
import { makeEvents, makePodList } from './pods.mjs'

const [host = '127.0.0.1', ...features] = process.argv.slice(2)
const closes = features.includes('close')
const BATCH_MS = 10
const DAY_MS = 86_400_000
const json = { 'content-type': 'application/json' }

const { createAuthority } = await import('../packages/sandbox/dist/certificates/authority.js')
const authority = await createAuthority('benchmark-ca')
const { certificate, key } = await authority.issue({
  subject: [{ CN: ['kube-apiserver'] }],
  notBefore: new Date(Date.now() - DAY_MS),
  notAfter: new Date(Date.now() + DAY_MS),
  usage: 'server',
  alternativeNames: [{ type: 'ip', value: host }],
})

const small = JSON.stringify({ kind: 'NamespaceList', apiVersion: 'v1', metadata: {}, items: [] })
// What `kubecred doctor` asks for.
const review = JSON.stringify({
  kind: 'SelfSubjectReview',
  apiVersion: 'authentication.k8s.io/v1',
  status: { userInfo: { username: 'benchmark' } },
})
// Made when they are first needed.
let list
let events

const tls = { cert: certificate, key }
const server = features.includes('http2')
  ? createSecureServer(
      { ...tls, allowHTTP1: true, settings: { maxConcurrentStreams: 250 } },
      answer,
    )
  : createServer(tls, answer)
server.keepAliveTimeout = 60_000
server.listen(0, host, () => {
  const url = `https://${host}:${server.address().port}`
  process.send?.({ url, ca: authority.certificate })
})
process.on('disconnect', () => process.exit())

function answer(request, response) {
  if (closes) response.shouldKeepAlive = false
  if (request.headers.authorization !== 'Bearer benchmark') {
    response.writeHead(401, json).end('{}')
    return
  }
  if (request.url.startsWith('/api/v1/pods')) {
    const { searchParams } = new URL(request.url, 'https://localhost')
    if (searchParams.has('watch')) return sendEvents(response, Number(searchParams.get('rate')))
    return sendList(request, response)
  }
  response.writeHead(200, json)
  response.end(request.method === 'POST' ? review : small)
}

/** Sends the list as kube-apiserver does: compressed at level 1. It is compressed once, to leave the CPU to the client. */
function sendList(request, response) {
  if (list === undefined) {
    const plain = Buffer.from(JSON.stringify(makePodList()))
    list = { plain, gzip: gzipSync(plain, { level: 1 }) }
  }
  if (request.headers['accept-encoding']?.includes('gzip')) {
    response.writeHead(200, { ...json, 'content-encoding': 'gzip' })
    response.end(list.gzip)
  } else {
    response.writeHead(200, json)
    response.end(list.plain)
  }
}

function sendEvents(response, rate) {
  events ??= makeEvents()
  response.on('error', () => {})
  response.writeHead(200, json)
  if (rate > 0) sendAtRate(response, rate)
  else {
    const batch = Buffer.concat(events)
    const fill = () => {
      while (!response.destroyed && response.write(batch));
    }
    response.on('drain', fill)
    fill()
  }
}

function sendAtRate(response, rate) {
  const begin = performance.now()
  let sent = 0
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - begin) / 1000) * rate)
    const lines = []
    for (; sent < due; sent += 1) lines.push(events[sent % events.length])
    if (lines.length > 0) response.write(Buffer.concat(lines))
  }, BATCH_MS)
  response.once('close', () => clearInterval(timer))
}
