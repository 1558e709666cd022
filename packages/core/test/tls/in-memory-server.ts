import type { Socket } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import { PipeEnd } from '../../src/bridge/memory-pipe.ts'
import type { SigningKey } from '../../src/credential/signing-key.ts'
import { connectSigned } from '../../src/tls/connect-signed.ts'
import { authority, jane, server } from './tls-server.ts'

/** A man in the middle: gets every chunk with its index, and returns what is delivered. */
export interface Middle {
  toClient?: (bytes: Buffer, index: number) => readonly Buffer[]
  toServer?: (bytes: Buffer, index: number) => readonly Buffer[]
}

export interface Meeting {
  readonly connecting: Promise<TLSSocket>
  /** The connections that the server has accepted; it echoes what it receives. */
  readonly accepted: TLSSocket[]
  /** Resolves when no bytes have been in transit for some turns of the event loop. */
  idle(): Promise<void>
  end(): void
}

interface MeetingOptions {
  readonly middle?: Middle
  readonly signingKey: SigningKey
  readonly signal?: AbortSignal
  /** Replaces the signed handshake by another client. */
  readonly connect?: (socket: Socket) => Promise<TLSSocket>
}

const TURNS = 20
const asking = { requestCert: true, rejectUnauthorized: true, ca: authority.ca }

/** Starts a signed handshake over in-memory pipes. */
export function meet({ middle = {}, signingKey, signal, connect }: MeetingOptions): Meeting {
  const [client, beforeServer] = PipeEnd.pair()
  const [beforeClient, serverEnd] = PipeEnd.pair()
  let passed = 0
  const pump = (from: PipeEnd, to: PipeEnd, change: Middle['toClient']): void => {
    let index = 0
    from
      .on('data', (bytes: Buffer) => {
        passed += 1
        const pieces = change?.(bytes, index) ?? [bytes]
        index += 1
        for (const piece of pieces) if (piece.length > 0) to.write(piece)
      })
      .on('end', () => to.end())
      .on('close', () => to.destroy())
  }
  pump(beforeServer, beforeClient, middle.toServer)
  pump(beforeClient, beforeServer, middle.toClient)
  const accepted: TLSSocket[] = []
  // One server per handshake: a connection that another handshake's server accepts late must not count here.
  createServer({ cert: server.chain, key: server.key, ...asking })
    .on('secureConnection', (socket: TLSSocket) => {
      accepted.push(socket)
      socket.on('error', () => {}).on('data', (chunk) => socket.write(chunk))
    })
    .emit('connection', serverEnd)
  const socket = client as unknown as Socket
  const tls = { ca: authority.ca, servername: 'localhost' }
  const connecting =
    connect?.(socket) ?? connectSigned({ socket, tls, chain: jane.chain, signingKey, signal })
  connecting.catch(() => {})
  return {
    connecting,
    accepted,
    async idle() {
      for (let turn = 0, last = passed; turn < TURNS; turn += 1) {
        await new Promise(setImmediate)
        if (last !== passed) turn = 0
        last = passed
      }
    },
    end() {
      for (const pipe of [client, beforeServer, beforeClient, serverEnd]) pipe.destroy()
    },
  }
}
