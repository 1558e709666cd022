import type { Call } from '../command.ts'
import { wantsJson } from '../flags/wants-json.ts'
import { printableJson, printableLine } from '../render/printable.ts'
import type { Listening } from './listen.ts'

/** What a user needs to know about a running proxy. */
export interface Announcement {
  readonly listening: Listening
  /** The file with the `Authorization` header; undefined if no secret is needed or there is no file. */
  readonly header: string | undefined
  /** The URL of the page, with its secret. */
  readonly page: string | undefined
  readonly metrics: string | undefined
  /** The port of `/livez` and `/readyz`. */
  readonly healthPort: number | undefined
  /** Whether the secret is the user's own, from `--secret-file`. */
  readonly hasOwnSecret: boolean
  /** Whether callers send their own tokens in place of a secret. */
  readonly hasCallers: boolean
  /** The path under which the API is served. */
  readonly prefix: string
  /** The context, server and credential source, for people. */
  readonly about: string
}

/** Prints where the proxy listens and how to use it: one line of JSON on stdout with `-o json`, else text on stderr. */
export function announce({ io, stderr, flags }: Call, announcement: Announcement): void {
  if (wantsJson(flags)) {
    io.stdout.write(printableJson(`${JSON.stringify(asData(announcement))}\n`))
    return
  }
  const { palette } = stderr
  const { listening, page, metrics, healthPort, header, about } = announcement
  const { hasOwnSecret, hasCallers } = announcement
  const where = listening.kind === 'port' ? listening.url : listening.path
  const rows: [string, string | undefined][] = [
    ['proxy', palette.bold(printableLine(where))],
    ['page', page && palette.bold(page)],
    ['metrics', metrics],
    ['health', healthPort === undefined ? undefined : `port ${healthPort}: /livez, /readyz`],
    ['try', needsOwn(announcement) ? undefined : tryLine(announcement)],
  ]
  stderr.line(`Proxy for ${printableLine(about)}`)
  stderr.line()
  for (const [name, value] of rows) {
    if (value !== undefined) stderr.line(`  ${name.padEnd(9)}${value}`)
  }
  stderr.line()
  if (hasCallers) stderr.line('Every request needs the token of its caller.')
  else if (hasOwnSecret) stderr.line('Every request needs the secret from --secret-file.')
  else if (header !== undefined) {
    stderr.line('Every request needs the secret. Its file is removed when the proxy ends.')
  }
  stderr.line('Ctrl-C ends it.')
}

/** Whether a request needs something that only the user has. */
function needsOwn({ header, hasOwnSecret, hasCallers }: Announcement): boolean {
  return hasCallers || (header === undefined && hasOwnSecret)
}

/** Returns an example command. It reads the secret from a file, because other users can see command lines. */
function tryLine({ listening, header, prefix }: Announcement): string {
  const secret = header === undefined ? '' : ` -H @${quoted(header)}`
  return listening.kind === 'port'
    ? `curl${secret} ${listening.url}${prefix}version`
    : `curl${secret} --unix-socket ${quoted(listening.path)} http://localhost${prefix}version`
}

/** Returns the JSON output. `url` has no trailing slash, so that a path can be appended, as with `server` in a kubeconfig. */
function asData({ listening, header, page, metrics, prefix, healthPort }: Announcement): object {
  const location =
    listening.kind === 'port'
      ? {
          url: `${listening.url}${prefix.slice(0, -1)}`,
          address: listening.address,
          port: listening.port,
        }
      : { unixSocket: listening.path, prefix }
  return {
    ...location,
    ...(header !== undefined && { headerFile: header }),
    ...(page !== undefined && { page }),
    ...(metrics !== undefined && { metrics }),
    ...(healthPort !== undefined && { healthPort }),
  }
}

/** Quotes a path for a shell if necessary. */
function quoted(path: string): string {
  const shown = printableLine(path)
  return /^[\w@%+=:,./-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", `'\\''`)}'`
}
