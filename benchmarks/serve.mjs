// An HTTPS server with one token and a small response, in a separate process. Sends its address to its parent, and ends with it.
import { createServer } from 'node:https'
import { startSandbox } from '@kubecred/sandbox'

// The sandbox only issues the certificate: the server itself should use as little CPU as possible.
const sandbox = await startSandbox()
const { certificate, key } = await sandbox.issueCertificate({ user: 'benchmark' })
await sandbox.close()
const body = JSON.stringify({ kind: 'NamespaceList', apiVersion: 'v1', metadata: {}, items: [] })
const server = createServer({ cert: certificate, key }, (request, response) => {
  const isKnown = request.headers.authorization === 'Bearer benchmark'
  response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' })
  response.end(body)
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `https://127.0.0.1:${server.address().port}` })
})
process.on('disconnect', () => process.exit())
