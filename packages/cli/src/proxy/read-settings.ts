import { DEFAULT_RULES, type ProxyRules } from 'kubecred/proxy'
import { parseDuration } from '../flags/duration.ts'
import type { FlagName } from '../flags/flag-table.ts'
import type { FlagValues } from '../flags/flag-values.ts'
import { UsageError } from '../usage-error.ts'
import { LOG_FORMATS, type LogFormat } from './access-log.ts'
import { checkAddress } from './address.ts'
import { readHostNames } from './host-names.ts'
import { type CallerSettings, readCallers } from './read-callers.ts'
import { readPatterns } from './read-patterns.ts'
import type { TlsFiles } from './tls-files.ts'

/** Where to listen. */
export type ListenAddress =
  | { readonly kind: 'port'; readonly address: string; readonly port: number }
  | { readonly kind: 'socket'; readonly path: string }

/** The settings from the flags of `kubecred proxy`. */
export interface ProxySettings {
  readonly listenAddress: ListenAddress
  readonly rules: ProxyRules
  readonly prefix: string
  /** Additional accepted values of the Host header. */
  readonly hostNames: readonly string[]
  readonly secretFile: string | undefined
  /** Undefined if callers send a secret, not their own tokens. */
  readonly callers: CallerSettings | undefined
  /** Undefined for plain HTTP. */
  readonly tls: TlsFiles | undefined
  /** Undefined if there is no health endpoint. */
  readonly healthPort: number | undefined
  /** Undefined if the page is off. */
  readonly pagePort: number | undefined
  readonly pageSecretFile: string | undefined
  readonly hasMetrics: boolean
  /** Undefined if there is no access log. */
  readonly logFormat: LogFormat | undefined
  /** How long requests are still accepted after the signal to end. */
  readonly delayMs: number
  readonly graceMs: number
}

const PORT = 8001
const MAX_PORT = 65_535
const GRACE_MS = 10_000
const PAGE_FLAGS = ['page-port', 'page-secret-file'] as const

/**
 * Reads the settings from the flags.
 *
 * @throws {UsageError} If a flag is invalid; the message names it and what it takes.
 */
export function readSettings(flags: FlagValues): ProxySettings {
  const hasPage = flags.isOn('no-page') !== true
  const pageFlag = PAGE_FLAGS.find((name) => flags.text(name) !== undefined)
  if (!hasPage && pageFlag !== undefined) {
    throw new UsageError(`--no-page and --${pageFlag} cannot be combined`)
  }
  const hasMetrics = flags.isOn('metrics') === true
  if (!hasPage && hasMetrics && flags.text('health-port') === undefined) {
    throw new UsageError('--metrics with --no-page needs --health-port, which then serves them')
  }
  const callers = readCallers(flags)
  return {
    listenAddress: readListenAddress(flags),
    rules: { ...readRules(flags), acceptCallers: callers?.accepted },
    prefix: readPrefix(flags.text('api-prefix')),
    hostNames: readHostNames(flags.text('accept-hosts')),
    secretFile: flags.text('secret-file'),
    callers,
    tls: readTls(flags),
    healthPort:
      flags.text('health-port') === undefined ? undefined : readPort(flags, 'health-port', 0),
    pagePort: hasPage ? readPort(flags, 'page-port', 0) : undefined,
    pageSecretFile: flags.text('page-secret-file'),
    hasMetrics,
    logFormat: readLogFormat(flags.text('log-format')),
    delayMs: readTime(flags, 'shutdown-delay', 0),
    graceMs: readTime(flags, 'shutdown-grace', GRACE_MS),
  }
}

function readListenAddress(flags: FlagValues): ListenAddress {
  const path = flags.text('unix-socket')
  if (path === undefined) {
    const address = flags.text('address') ?? '127.0.0.1'
    checkAddress(address, flags.isOn('allow-remote') === true)
    return { kind: 'port', address, port: readPort(flags, 'port', PORT) }
  }
  const other = (
    ['port', 'address', 'allow-remote', 'accept-hosts', 'tls-cert-file'] as const
  ).find((name) => flags.text(name) !== undefined)
  if (other === undefined) return { kind: 'socket', path }
  throw new UsageError(`--unix-socket and --${other} cannot be combined`)
}

function readTls(flags: FlagValues): TlsFiles | undefined {
  const certificate = flags.text('tls-cert-file')
  const key = flags.text('tls-key-file')
  if (certificate !== undefined && key !== undefined) return { certificate, key }
  if (certificate === undefined && key === undefined) return undefined
  throw new UsageError('--tls-cert-file and --tls-key-file must be used together')
}

function readRules(flags: FlagValues): ProxyRules {
  return {
    acceptPaths: readPatterns(flags, 'accept-paths') ?? DEFAULT_RULES.acceptPaths,
    rejectPaths: readPatterns(flags, 'reject-paths') ?? DEFAULT_RULES.rejectPaths,
    rejectMethods: readPatterns(flags, 'reject-methods') ?? DEFAULT_RULES.rejectMethods,
    readOnly: flags.isOn('read-only') === true,
  }
}

function readPort(flags: FlagValues, name: FlagName, byDefault: number): number {
  const text = flags.text(name)
  if (text === undefined) return byDefault
  if (/^\d{1,5}$/.test(text) && Number(text) <= MAX_PORT) return Number(text)
  throw new UsageError(
    `flag --${name} takes a number from 0 to ${MAX_PORT}, not ${JSON.stringify(text)}`,
  )
}

function readPrefix(text = '/'): string {
  const prefix = text.endsWith('/') ? text : `${text}/`
  if (prefix === '/' || /^(?:\/[\w~:-][\w.~:-]*)+\/$/.test(prefix)) return prefix
  throw new UsageError(
    `flag --api-prefix takes a path such as /cluster/, not ${JSON.stringify(text)}`,
  )
}

function readLogFormat(text: string | undefined): LogFormat | undefined {
  const format = LOG_FORMATS.find((each) => each === text)
  if (format !== undefined || text === undefined) return format
  throw new UsageError(`flag --log-format takes text or json, not ${JSON.stringify(text)}`)
}

function readTime(flags: FlagValues, name: FlagName, byDefault: number): number {
  const text = flags.text(name)
  if (text === undefined) return byDefault
  const time = parseDuration(text)
  if (time !== undefined && time <= 2 ** 31 - 1) return time
  throw new UsageError(
    `flag --${name} takes seconds or a time such as 1m30s, not ${JSON.stringify(text)}`,
  )
}
