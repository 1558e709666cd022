import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'

/** In CI a missing openssl is a failure, see tools/system-packages.mjs. */
export const hasOpenssl = spawnSync('openssl', ['version']).status === 0

export interface RefusingServerOptions {
  readonly certificate: string
  readonly key: string
  /** The CA of accepted client certificates. */
  readonly clientCaPem: string
}

export interface RefusingServer extends AsyncDisposable {
  readonly url: string
  /** How many clients have connected. */
  readonly connections: number
}

/**
 * Starts a server that responds with 200, and ends the handshake of a bad client certificate with an alert.
 *
 * Node's own TLS server closes the connection without an alert; OpenSSL sends one, like Go. So every connection is
 * handled by an openssl process, which forwards the decrypted data.
 */
export async function startRefusingServer(options: RefusingServerOptions): Promise<RefusingServer> {
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-refusing-'))
  const file = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content, { mode: 0o600 })
    return join(folder, name)
  }
  const files = ['-cert', file('cert.pem', options.certificate), '-key']
  files.push(file('key.pem', options.key), '-CAfile', file('ca.pem', options.clientCaPem))
  const ends = new Set<() => Promise<unknown>>()
  let connections = 0
  const take = async (client: Socket): Promise<void> => {
    connections += 1
    client.on('error', () => client.destroy())
    const port = await findPort()
    const program = spawn('openssl', [...ARGUMENTS, ...files, '-accept', `${HOST}:${port}`])
    program.stderr.resume()
    const exited = once(program, 'exit').then(() => client.destroy())
    ends.add(async () => program.kill('SIGKILL') && (await exited))
    answerPlain(Duplex.from({ readable: program.stdout, writable: program.stdin }))
    await passOn(client, port)
  }
  const front = createServer((client) => void take(client))
  const port = await listen(front)
  return {
    url: `https://${HOST}:${port}`,
    get connections() {
      return connections
    },
    async [Symbol.asyncDispose]() {
      front.close()
      await Promise.all([...ends].map((end) => end()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const HOST = '127.0.0.1'
const ARGUMENTS = ['s_server', '-quiet', '-naccept', '1', '-alpn', 'h2,http/1.1']
ARGUMENTS.push('-Verify', '1', '-verify_return_error')

async function listen(server: Server): Promise<number> {
  server.listen(0, HOST)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return port
}

/** Returns a free port: openssl can choose one, but does not report it. */
async function findPort(): Promise<number> {
  const server = createServer()
  const port = await listen(server)
  server.close()
  await once(server, 'close')
  return port
}

/** Connects a client to the openssl process when that listens. */
async function passOn(client: Socket, port: number): Promise<void> {
  while (!client.destroyed) {
    const program = connect(port, HOST)
    const isThere = await once(program, 'connect').then(
      () => true,
      () => false,
    )
    if (isThere) {
      program.on('error', () => client.destroy()).on('close', () => client.destroy())
      client.on('close', () => program.destroy())
      client.pipe(program).pipe(client)
      return
    }
    await pause(5)
  }
}

/** Responds to a client, in the version of HTTP that it uses. */
function answerPlain(stream: Duplex): void {
  stream.on('error', () => {})
  stream.once('readable', () => {
    const beginning = stream.read() as Buffer | null
    if (beginning === null) return
    stream.unshift(beginning)
    const isHttp2 = beginning.toString('latin1').startsWith('PRI * HTTP/2.0')
    const server = isHttp2 ? createHttp2Server() : createHttpServer()
    server.on('request', (_, response) => response.end('ok'))
    server.on('error', () => {})
    server.emit('connection', stream)
  })
}
