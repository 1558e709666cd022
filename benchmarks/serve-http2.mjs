// A server in a process of its own that speaks both HTTP/2 and HTTP/1.1. Tells where it listens, ends with its parent.
import { createSecureServer } from 'node:http2'
import { startSandbox } from '@kubecred/sandbox'

// Only a certificate is taken from the sandbox: the server itself should cost as little as possible.
const sandbox = await startSandbox()
const { certificate, key } = await sandbox.issueCertificate({ user: 'benchmark' })
await sandbox.close()
const body = JSON.stringify({ kind: 'NamespaceList', apiVersion: 'v1', metadata: {}, items: [] })
const options = {
  cert: certificate,
  key,
  allowHTTP1: true,
  settings: { maxConcurrentStreams: 100 },
}
const server = createSecureServer(options, (request, response) => {
  const isKnown = request.headers.authorization === 'Bearer benchmark'
  response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' })
  response.end(body)
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `https://127.0.0.1:${server.address().port}` })
})
process.on('disconnect', () => process.exit())
