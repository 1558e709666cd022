// A server for HTTP/2 and HTTP/1.1 in a separate process. Sends its address to its parent, and ends with it.
//
// It answers every request with the same bytes. Node's own HTTP/2 server takes so long for a request that a client with
// one connection would wait for it: the benchmark would measure the server.
import { createServer } from 'node:tls'
import { startSandbox } from '@kubecred/sandbox'

const sandbox = await startSandbox()
const { certificate, key } = await sandbox.issueCertificate({ user: 'benchmark' })
await sandbox.close()
const list = { kind: 'NamespaceList', apiVersion: 'v1', metadata: {}, items: [] }
const body = Buffer.from(JSON.stringify(list))

const HEAD = ['HTTP/1.1 200 OK', 'content-type: application/json', `content-length: ${body.length}`]
const http1Response = Buffer.concat([Buffer.from(`${HEAD.join('\r\n')}\r\n\r\n`), body])

// Frame types and flags of RFC 9113, section 6.
const [DATA, HEADERS, SETTINGS, PING] = [0, 1, 4, 6]
const [END_STREAM, ACK, END_HEADERS] = [1, 1, 4]
const FRAME_HEAD = 9
const PREFACE = 24
/** `:status: 200` is entry 8 of the static table; the other header is a literal (RFC 7541, section 6). */
const headers = Buffer.concat([
  Buffer.from([0x88]),
  ...['content-type', 'application/json'].map((text, index) =>
    Buffer.from([...(index === 0 ? [0] : []), text.length, ...Buffer.from(text)]),
  ),
])
const dataAt = FRAME_HEAD + headers.length
const response = Buffer.concat([
  frame(HEADERS, END_HEADERS, headers),
  frame(DATA, END_STREAM, body),
])
/** At most 100 streams at once. */
const settings = frame(SETTINGS, 0, Buffer.from([0, 3, 0, 0, 0, 100]))

const options = { cert: certificate, key, ALPNProtocols: ['h2', 'http/1.1'] }
const server = createServer(options, (socket) => {
  socket.setNoDelay(true).on('error', () => {})
  if (socket.alpnProtocol === 'h2') serveHttp2(socket)
  // The requests of the benchmark are small, and have no body.
  else socket.on('data', () => socket.write(http1Response))
})
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `https://127.0.0.1:${server.address().port}` })
})
process.on('disconnect', () => process.exit())

function serveHttp2(socket) {
  let unread = Buffer.alloc(0)
  let toSkip = PREFACE
  socket.write(settings)
  socket.on('data', (chunk) => {
    unread = Buffer.concat([unread, chunk])
    if (unread.length < toSkip) return
    unread = unread.subarray(toSkip)
    toSkip = 0
    const answers = []
    while (unread.length >= FRAME_HEAD) {
      const end = FRAME_HEAD + unread.readUIntBE(0, 3)
      if (unread.length < end) break
      answers.push(answerTo(unread.subarray(0, end)))
      unread = unread.subarray(end)
    }
    socket.write(Buffer.concat(answers))
  })
}

function answerTo(received) {
  const [type, flags] = [received[3], received[4]]
  if (type === HEADERS) return responseOn(received.readUInt32BE(5))
  const isAcknowledged = (type === SETTINGS || type === PING) && (flags & ACK) === 0
  if (!isAcknowledged) return Buffer.alloc(0)
  return frame(type, ACK, type === PING ? received.subarray(FRAME_HEAD) : Buffer.alloc(0))
}

function responseOn(streamId) {
  const copy = Buffer.from(response)
  copy.writeUInt32BE(streamId, 5)
  copy.writeUInt32BE(streamId, dataAt + 5)
  return copy
}

function frame(type, flags, payload) {
  const head = Buffer.alloc(FRAME_HEAD)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  return Buffer.concat([head, payload])
}
