import { type Cluster, Secret } from 'kubecred'
import { type PlainResponse, sendPlain } from 'kubecred/internal'
import type { Call } from '../command.ts'
import { formatDuration } from '../render/format-duration.ts'
import { printableLine } from '../render/printable.ts'

/** A request without its path. */
export interface SendOptions {
  readonly method: string
  readonly headers: [string, string][]
  readonly body?: Uint8Array | undefined
  readonly signal: AbortSignal
}

/** Sends a request and logs it with `-v`: what was sent, the response status, and how long it took. */
export async function sendLogged(
  { log, io, progress }: Call,
  cluster: Cluster,
  path: string,
  { method, headers, body, signal }: SendOptions,
): Promise<PlainResponse> {
  log.tell(`${method} ${hideQuerySecrets(path)}`)
  for (const [name, value] of headers) log.tell(`> ${showHeader(name, value)}`, 2)
  if (body !== undefined) log.tell(`> (${body.length} bytes)`, 2)
  const startedAt = io.now()
  progress.begin(`the server ${new URL(cluster.server).host}`)
  const response = await sendPlain(cluster, path, {
    method,
    headers: joined(headers),
    body,
    signal,
  })
  progress.end()
  const took = formatDuration(io.now() - startedAt)
  log.tell(`${statusLine(response)} after ${took}`)
  if (log.level > 1) {
    for (const [name, value] of headerPairs(response)) log.tell(`< ${showHeader(name, value)}`, 2)
  }
  return response
}

/** Formats the status of a response: `403 Forbidden`. */
export function statusLine({ status, statusText }: PlainResponse): string {
  return printableLine(`${status} ${statusText}`)
}

/** Joins the values of headers that were given several times. */
function joined(headers: readonly [string, string][]): Record<string, string> {
  const values: Record<string, string> = {}
  for (const [name, value] of headers) {
    const before = values[name]
    const separator = name === 'cookie' ? '; ' : ', '
    values[name] = before === undefined ? value : before + separator + value
  }
  return values
}

/** Returns the headers of a response, sorted by name; only Set-Cookie can be there several times. */
export function headerPairs({ headers }: PlainResponse): [string, string][] {
  return Object.entries(headers)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, value = []]) => {
      const values = [value].flat()
      return (name === 'set-cookie' ? values : [values.join(', ')]).map(
        (each): [string, string] => [name, each],
      )
    })
}

/** Matches the names of headers that may contain a secret. */
const SECRET_NAME = /auth|cookie|token|secret|password|key|credential/i

function showHeader(name: string, value: string): string {
  return `${printableLine(name)}: ${isSecret(name) ? '[hidden]' : printableLine(value)}`
}

function isSecret(name: string): boolean {
  return SECRET_NAME.test(name) && name.toLowerCase() !== 'www-authenticate'
}

/** Returns the secrets in request headers, which must be hidden even if the server echoes them: with and without scheme. */
export function secretHeaders(headers: readonly [string, string][]): Secret[] {
  return headers
    .filter(([name]) => isSecret(name))
    .flatMap(([, value]) => [value, value.replace(/^\S+\s+/, '')])
    .map((value) => new Secret(value))
}

function hideQuerySecrets(path: string): string {
  return printableLine(
    path.replace(/([?&][^=&]*(?:token|secret|password|key)[^=&]*=)[^&]*/gi, '$1[hidden]'),
  )
}
