import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { dial } from '../dial/dial.ts'
import { explainNetworkError } from '../dial/network-errors.ts'
import { startTcp, waitForConnect } from '../dial/start-socket.ts'
import { addressOf, type Target } from '../dial/target.ts'
import { HandshakeNotSignedError } from '../errors/index.ts'
import { failure, formatDuration, type StepResult } from './finding.ts'

const TIMEOUT_MS = 10_000

/** Reports whether requests go through a proxy, and where it is configured. */
export function checkProxy({ proxy, origin }: Target): StepResult {
  if (proxy === undefined) return { verdict: 'ok', summary: 'none: connecting directly' }
  return {
    verdict: 'ok',
    summary: `${proxy.label}, from ${proxy.from}`,
    details: proxy.from.includes('PROXY') ? [`NO_PROXY does not include ${origin}`] : [],
  }
}

/** Checks that the proxy, or the server if there is none, accepts a TCP connection. */
export async function checkTcp(
  target: Target,
  signal: AbortSignal | undefined,
): Promise<StepResult> {
  const { proxy } = target
  const { host, port } = proxy ?? addressOf(target)
  const who = proxy === undefined ? target.origin : `the proxy ${proxy.label}`
  try {
    const details = isIP(host) === 0 ? [`${host} resolves to ${await resolve(host)}`] : []
    const socket = startTcp({ host, port })
    const timer = setTimeout(
      () => socket.destroy(Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' })),
      TIMEOUT_MS,
    )
    const abort = (): void => void socket.destroy(new Error('aborted'))
    signal?.addEventListener('abort', abort, { once: true })
    try {
      await waitForConnect(socket, 'connect')
      const { remoteAddress = host, remotePort = port } = socket
      return {
        verdict: 'ok',
        summary: `${who} is reachable at ${remoteAddress} port ${remotePort}`,
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
        ? 'Check that the server runs, and the network or VPN in between.'
        : `Check ${proxy.from}: the proxy is unreachable, not the server.`
    return failure(explainNetworkError(error, who, { hint }))
  }
}

async function resolve(host: string): Promise<string> {
  const found = await lookup(host, { all: true })
  return found.map(({ address }) => address).join(', ')
}

/** Checks the server's certificate with a TLS handshake. No credential is sent. */
export async function checkTls(
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
): Promise<StepResult> {
  const { tls } = target
  try {
    const options = { protocols: ['h2', 'http/1.1'], timeoutMs: TIMEOUT_MS }
    const socket = (await dial(target, undefined, {
      ...options,
      ...(signal && { signal }),
    })) as TLSSocket
    const result = describe(socket, now(), tls.insecure)
    const version = nameVersion(socket)
    socket.destroy()
    if (!isSigned || version === 'TLS 1.3') return result
    const reason = `the server negotiated ${version}, and a signer signs TLS 1.3 handshakes only`
    return failure(new HandshakeNotSignedError(reason), result.details)
  } catch (error) {
    signal?.throwIfAborted()
    return failure(
      explainNetworkError(error, target.origin),
      await describeUntrusted(target, signal),
    )
  }
}

function describe(socket: TLSSocket, now: number, insecure: boolean): StepResult {
  const { valid_to: end } = socket.getPeerCertificate()
  const left = Date.parse(end) - now
  const protocol = socket.alpnProtocol === 'h2' ? 'HTTP/2' : 'HTTP/1.1'
  const details = describeCertificate(socket)
  const summary = `${nameVersion(socket)}, ${protocol}`
  if (insecure) {
    return {
      verdict: 'warning',
      summary: `${summary}; the server's certificate is NOT verified`,
      details,
      remedy:
        'Remove insecure-skip-tls-verify and set the CA: anyone in between can read the credential.',
    }
  }
  return {
    verdict: 'ok',
    summary: `${summary}, certificate trusted, valid for ${formatDuration(left)}`,
    details,
  }
}

function nameVersion(socket: TLSSocket): string {
  return (socket.getProtocol() ?? 'TLS').replace('v', ' ')
}

function describeCertificate(socket: TLSSocket): string[] {
  const { subject, issuer, subjectaltname, valid_from, valid_to } = socket.getPeerCertificate()
  return [
    `certificate subject: ${subject?.CN ?? '(no common name)'}`,
    `names: ${subjectaltname?.replaceAll('DNS:', '').replaceAll('IP Address:', '') ?? '(none)'}`,
    `issued by: ${issuer?.CN ?? issuer?.O ?? '(unknown)'}`,
    `valid from ${valid_from} to ${valid_to}`,
  ]
}

/** Describes the certificate of a server that is not trusted. Nothing is sent to it. */
async function describeUntrusted(
  target: Target,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const unchecked = { ...target, tls: { ...target.tls, insecure: true } }
  try {
    const socket = await dial(unchecked, undefined, {
      timeoutMs: TIMEOUT_MS,
      ...(signal && { signal }),
    })
    const details = describeCertificate(socket as TLSSocket)
    socket.destroy()
    return details
  } catch {
    // The error of the verified handshake is reported.
    return []
  }
}
