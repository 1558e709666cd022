// A server for HTTP/2 and HTTP/1.1 in a separate process. Sends its address to its parent, and ends with it.
import { createSecureServer } from 'node:http2'
import { startSandbox } from '@kubecred/sandbox'

// The sandbox only issues the certificate: the server itself should use as little CPU as possible.
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
