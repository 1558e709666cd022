import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { dial } from '../dial/dial.ts'
import { explainNetworkError } from '../dial/network-errors.ts'
import { opened, startTcp } from '../dial/start-socket.ts'
import { addressOf, type Target } from '../dial/target.ts'
import { HandshakeNotSignedError } from '../errors/index.ts'
import { failure, type Look, spanOf } from './finding.ts'

const LIMIT_MS = 10_000

/** Whether there is a proxy on the way, and who says so. */
export function lookAtProxy({ proxy, origin }: Target): Look {
  if (proxy === undefined) return { verdict: 'good', summary: 'none: the server is asked directly' }
  return {
    verdict: 'good',
    summary: `${proxy.label}, from ${proxy.from}`,
    details: proxy.from.includes('PROXY') ? [`NO_PROXY does not name ${origin}`] : [],
  }
}

/** Whether the first machine on the way can be reached. */
export async function lookAtTcp(target: Target, signal: AbortSignal | undefined): Promise<Look> {
  const { proxy } = target
  const { host, port } = proxy ?? addressOf(target)
  const who = proxy === undefined ? target.origin : `the proxy ${proxy.label}`
  try {
    const details = isIP(host) === 0 ? [`${host} is ${await resolve(host)}`] : []
    const socket = startTcp({ host, port })
    const timer = setTimeout(
      () => socket.destroy(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })),
      LIMIT_MS,
    )
    const abort = (): void => void socket.destroy(new Error('aborted'))
    signal?.addEventListener('abort', abort, { once: true })
    try {
      await opened(socket, 'connect')
      const { remoteAddress = host, remotePort = port } = socket
      return {
        verdict: 'good',
        summary: `${who} answers at ${remoteAddress} port ${remotePort}`,
        details,
      }
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      socket.destroy()
    }
  } catch (error) {
    signal?.throwIfAborted()
    const hint =
      proxy === undefined
        ? 'Check that the server runs, and the network or VPN between you and it.'
        : `Check ${proxy.from}: it is the proxy that could not be reached, not the server.`
    return failure(explainNetworkError(error, who, { hint }))
  }
}

async function resolve(host: string): Promise<string> {
  const found = await lookup(host, { all: true })
  return found.map(({ address }) => address).join(', ')
}

/** Whether the server is the one that is meant. No credential is shown to it here. */
export async function lookAtTls(
  target: Target,
  {
    signal,
    now,
    isSigned,
  }: {
    readonly signal: AbortSignal | undefined
    readonly now: () => number
    /** Whether an external signer signs the handshake. */
    readonly isSigned: boolean
  },
): Promise<Look> {
  const { tls } = target
  try {
    const options = { protocols: ['h2', 'http/1.1'], timeoutMs: LIMIT_MS }
    const socket = (await dial(target, undefined, {
      ...options,
      ...(signal && { signal }),
    })) as TLSSocket
    const look = describe(socket, now(), tls.insecure)
    const version = nameVersion(socket)
    socket.destroy()
    if (!isSigned || version === 'TLS 1.3') return look
    const what = `the server speaks ${version}, and a signer signs handshakes of TLS 1.3 only`
    return failure(new HandshakeNotSignedError(what), look.details)
  } catch (error) {
    signal?.throwIfAborted()
    return failure(explainNetworkError(error, target.origin), await whoIsThere(target, signal))
  }
}

function describe(socket: TLSSocket, now: number, insecure: boolean): Look {
  const { valid_to: end } = socket.getPeerCertificate()
  const left = Date.parse(end) - now
  const speaks = socket.alpnProtocol === 'h2' ? 'HTTP/2' : 'HTTP/1.1'
  const details = describeCertificate(socket)
  const summary = `${nameVersion(socket)}, ${speaks}`
  if (insecure) {
    return {
      verdict: 'odd',
      summary: `${summary}; the server's certificate is NOT checked`,
      details,
      remedy:
        'Remove insecure-skip-tls-verify and name the CA: anybody in between can read the credential.',
    }
  }
  return {
    verdict: 'good',
    summary: `${summary}, certificate trusted, valid for ${spanOf(left)}`,
    details,
  }
}

function nameVersion(socket: TLSSocket): string {
  return (socket.getProtocol() ?? 'TLS').replace('v', ' ')
}

function describeCertificate(socket: TLSSocket): string[] {
  const { subject, issuer, subjectaltname, valid_from, valid_to } = socket.getPeerCertificate()
  return [
    `certificate of: ${subject?.CN ?? '(no common name)'}`,
    `for: ${subjectaltname?.replaceAll('DNS:', '').replaceAll('IP Address:', '') ?? '(no name)'}`,
    `issued by: ${issuer?.CN ?? issuer?.O ?? '(unknown)'}`,
    `valid from ${valid_from} to ${valid_to}`,
  ]
}

/** Who answers when it is not who was expected: looked at without trust, and nothing is sent. */
async function whoIsThere(target: Target, signal: AbortSignal | undefined): Promise<string[]> {
  const unchecked = { ...target, tls: { ...target.tls, insecure: true } }
  try {
    const socket = await dial(unchecked, undefined, {
      timeoutMs: LIMIT_MS,
      ...(signal && { signal }),
    })
    const details = describeCertificate(socket as TLSSocket)
    socket.destroy()
    return details
  } catch {
    // The first error says it all.
    return []
  }
}
