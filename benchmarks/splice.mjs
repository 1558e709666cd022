// The cost of an external key: handshakes and bulk data compared with node:tls and a PEM key, alternating in one run.
// The key signs in memory, so this is the cost of the splice alone.
import { fork } from 'node:child_process'
import { createPrivateKey, sign } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { connect as connectTls, createServer } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { startSandbox } from '@kubecred/sandbox'
import { median, ROUNDS, ratio } from './measure.mjs'

const HANDSHAKES = 60
const MEGABYTE = 2 ** 20
const BULK_BYTES = 256 * MEGABYTE
const CHUNK = Buffer.alloc(64 * 1024, 'x')
const HOST = '127.0.0.1'

export const name = 'TLS with a signing key'

export async function run() {
  const server = fork(fileURLToPath(import.meta.url), ['serve'])
  const [scene] = await once(server, 'message')
  const clients = await makeClients(scene)
  const handshakes = await inTurns(clients, ROUNDS, timeHandshakes)
  const downloads = await inTurns(clients, ROUNDS, (open) => timeBulk(open, 'd'))
  const uploads = await inTurns(clients, ROUNDS, (open) => timeBulk(open, 'u'))
  server.disconnect()
  const rate = (ms) => Math.round(BULK_BYTES / MEGABYTE / (ms / 1000))
  const compare = (times, inverse = false) =>
    inverse ? ratio(times.plain, times.signed) : ratio(times.signed, times.plain)
  return [
    { what: 'node:tls, handshake in ms', value: handshakes.plain.toFixed(2) },
    { what: 'signed, handshake in ms', value: handshakes.signed.toFixed(2) },
    { what: 'signed / node:tls, handshake', value: compare(handshakes), target: '≤ 1.15' },
    { what: 'node:tls, download in MB per second', value: rate(downloads.plain) },
    { what: 'signed, download in MB per second', value: rate(downloads.signed) },
    { what: 'signed / node:tls, download', value: compare(downloads, true), target: '≥ 0.9' },
    { what: 'node:tls, upload in MB per second', value: rate(uploads.plain) },
    { what: 'signed, upload in MB per second', value: rate(uploads.signed) },
    { what: 'signed / node:tls, upload', value: compare(uploads, true), target: '≥ 0.85' },
  ]
}

/** Two ways to open the same connection. */
async function makeClients({ port, ca, chain, key }) {
  const { connectSigned } = await import('../packages/core/dist/tls/connect-signed.js')
  const secret = createPrivateKey(key)
  const signingKey = {
    choose: async ([first]) => first,
    sign: async ({ message }) => sign('sha256', message, secret),
  }
  // The certificate is not a server certificate; both clients verify it and ignore that.
  const tls = { ca, servername: 'localhost', rejectUnauthorized: false }
  return {
    plain: async () => {
      const socket = connectTls({
        host: HOST,
        port,
        ...tls,
        cert: chain,
        key,
        minVersion: 'TLSv1.3',
      })
      await once(socket.setNoDelay(true), 'secureConnect')
      return socket
    },
    signed: async () => {
      const socket = connectTcp(port, HOST)
      await once(socket.setNoDelay(true), 'connect')
      return connectSigned({ socket, tls, chain, signingKey })
    },
  }
}

/** Returns the median of the measurements of each client. */
async function inTurns(clients, rounds, measure) {
  const times = Object.fromEntries(Object.keys(clients).map((client) => [client, []]))
  for (const open of Object.values(clients)) await measure(open)
  for (let round = 0; round < rounds; round += 1) {
    for (const [client, open] of Object.entries(clients)) times[client].push(await measure(open))
  }
  return Object.fromEntries(Object.entries(times).map(([client, all]) => [client, median(all)]))
}

/** Measures a handshake up to the first byte of the response, so that the server has accepted it too. */
async function timeHandshakes(open) {
  const start = performance.now()
  for (let count = 0; count < HANDSHAKES; count += 1) {
    const socket = await open()
    socket.write('d 1\n')
    await once(socket, 'data')
    socket.destroy()
  }
  return (performance.now() - start) / HANDSHAKES
}

async function timeBulk(open, direction) {
  const socket = await open()
  const start = performance.now()
  socket.write(`${direction} ${BULK_BYTES}\n`)
  if (direction === 'u') await pour(socket, BULK_BYTES)
  let expected = direction === 'u' ? 1 : BULK_BYTES
  await new Promise((resolve) => {
    socket.on('data', (chunk) => {
      expected -= chunk.length
      if (expected <= 0) resolve()
    })
  })
  const took = performance.now() - start
  socket.destroy()
  return took
}

async function pour(socket, bytes) {
  for (let left = bytes; left > 0; left -= CHUNK.length) {
    if (!socket.write(CHUNK.subarray(0, Math.min(left, CHUNK.length)))) await once(socket, 'drain')
  }
}

/** Sends or discards as many bytes as the client requests. */
async function serve() {
  const sandbox = await startSandbox()
  const { certificate: chain, key } = await sandbox.issueCertificate({ user: 'benchmark' })
  const ca = sandbox.clientCaPem
  await sandbox.close()
  // As in every HTTP server: with Nagle's algorithm the response waits until the client has acknowledged the tickets.
  const asking = { requestCert: true, rejectUnauthorized: true, noDelay: true }
  const options = { cert: chain, key, ca, ...asking }
  const server = createServer(options, (socket) => {
    socket.on('error', () => {})
    socket.once('data', async (first) => {
      const line = first.subarray(0, first.indexOf(10))
      const [direction, count] = line.toString().split(' ')
      if (direction === 'd') return pour(socket, Number(count))
      let left = Number(count) - (first.length - line.length - 1)
      socket.on('data', (chunk) => {
        left -= chunk.length
        if (left <= 0) socket.write('.')
      })
    })
  })
  server.listen(0, HOST, () => process.send?.({ port: server.address().port, ca, chain, key }))
  process.on('disconnect', () => process.exit())
}

if (process.argv[2] === 'serve') await serve()
