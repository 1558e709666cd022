import type { Call } from '../command.ts'
import { wantsJson } from '../flags/wants-json.ts'
import { printableJson, printableLine } from '../render/printable.ts'
import type { Listening } from './listen.ts'

/** What somebody needs to know to use a proxy. */
export interface Announced {
  readonly listening: Listening
  /** A file with the header that has the secret; where one is needed. */
  readonly header: string | undefined
  /** Address of the page, with its secret. */
  readonly page: string | undefined
  readonly metrics: string | undefined
  /** Port of `/livez` and `/readyz`. */
  readonly healthPort: number | undefined
  /** Whether requests need a secret that was chosen by who started it. */
  readonly hasOwnSecret: boolean
  /** The API's own place below the address. */
  readonly prefix: string
  /** Context, server and source. */
  readonly about: string
}

/** Says where the proxy is and how to use it: as one line of JSON for programs, else in words. */
export function announce({ io, words, flags }: Call, announced: Announced): void {
  if (wantsJson(flags)) {
    io.stdout.write(printableJson(`${JSON.stringify(asData(announced))}\n`))
    return
  }
  const { palette } = words
  const { listening, page, metrics, healthPort, header, about, hasOwnSecret } = announced
  const where = listening.kind === 'port' ? listening.url : listening.path
  const rows: [string, string | undefined][] = [
    ['proxy', palette.bold(printableLine(where))],
    ['page', page && palette.bold(page)],
    ['metrics', metrics],
    ['health', healthPort === undefined ? undefined : `port ${healthPort}: /livez, /readyz`],
    ['try', header === undefined && hasOwnSecret ? undefined : tryLine(announced)],
  ]
  words.line(`Proxy for ${printableLine(about)}`)
  words.line()
  for (const [name, value] of rows) {
    if (value !== undefined) words.line(`  ${name.padEnd(9)}${value}`)
  }
  words.line()
  if (hasOwnSecret) words.line('Every request needs the secret from --secret-file.')
  else if (header !== undefined) {
    words.line('Every request needs the secret; the file with it goes when the proxy ends.')
  }
  words.line('Ctrl-C ends it.')
}

/** The secret comes from a file: on a command line, every user of the machine could see it. */
function tryLine({ listening, header, prefix }: Announced): string {
  const secret = header === undefined ? '' : ` -H @${quoted(header)}`
  return listening.kind === 'port'
    ? `curl${secret} ${listening.url}${prefix}version`
    : `curl${secret} --unix-socket ${quoted(listening.path)} http://localhost${prefix}version`
}

/** The address has no final slash, so that programs can append a path to it, as to `server` of a kubeconfig. */
function asData({ listening, header, page, metrics, prefix, healthPort }: Announced): object {
  const place =
    listening.kind === 'port'
      ? {
          url: `${listening.url}${prefix.slice(0, -1)}`,
          address: listening.address,
          port: listening.port,
        }
      : { unixSocket: listening.path, prefix }
  return {
    ...place,
    ...(header !== undefined && { headerFile: header }),
    ...(page !== undefined && { page }),
    ...(metrics !== undefined && { metrics }),
    ...(healthPort !== undefined && { healthPort }),
  }
}

/** For a shell, if it needs it. */
function quoted(path: string): string {
  const shown = printableLine(path)
  return /^[\w@%+=:,./-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", `'\\''`)}'`
}
