import type { ExecConfig } from '../protocol/exec-config.ts'
import { Secret } from '../secret/secret.ts'

/** A plain word such as `get-token` is a subcommand; hiding it would only hide the message. */
const SUBCOMMAND = /^[a-z]+(?:-[a-z]+)*$/
/** After a flag, only this is another flag: a password may begin with a dash too. */
const PLAIN_FLAG = /^--?[a-z][a-z-]*(?:=|$)/
/** One letter with its value behind it, as in `-pPassw0rd`. */
const SHORT_WITH_VALUE = /^-[A-Za-z](?=.*[^a-z-])/

/** What of a cluster is told to a plugin and must not appear in text. */
export interface ToldCluster {
  /** The extension of the cluster entry. */
  readonly config?: unknown
  readonly proxyUrl?: string | Secret | undefined
}

/**
 * The values that a plugin gets and that must not appear in text: in the wild, client secrets stand in the exec stanza
 * and in the extension of the cluster.
 */
export function execSecrets(exec: ExecConfig, cluster: ToldCluster = {}): readonly Secret[] {
  const values = splitArgs(exec).flatMap(({ value }) => (value === '' ? [] : [new Secret(value)]))
  const { config, proxyUrl } = cluster
  const address = typeof proxyUrl === 'string' ? new Secret(proxyUrl) : proxyUrl
  return [
    ...values,
    ...exec.env.map(({ value }) => value),
    ...textsIn(config).map((text) => new Secret(text)),
    ...(address === undefined ? [] : [address]),
  ]
}

/** Every text in plain data; its depth is that of a kubeconfig or of an answer in JSON, which are bounded. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** An argument list for people: names of flags stay, values become `…`. */
export function showArgs(exec: Pick<ExecConfig, 'args'>): string {
  return splitArgs(exec)
    .map(({ shown, value }) => (value === '' ? shown : `${shown}…`))
    .join(' ')
}

/** Each argument as the part that may be shown and the value that may not. */
function splitArgs({ args }: Pick<ExecConfig, 'args'>): { shown: string; value: string }[] {
  let isAfterFlag = false
  return args.map((arg) => {
    const text = arg.expose()
    const isValue = isAfterFlag && !PLAIN_FLAG.test(text)
    isAfterFlag = !isValue && text.startsWith('-') && !text.includes('=')
    if (isValue) return { shown: '', value: text }
    const end = text.startsWith('-') ? endOfFlag(text) : SUBCOMMAND.test(text) ? text.length : 0
    return { shown: text.slice(0, end), value: text.slice(end) }
  })
}

function endOfFlag(text: string): number {
  if (text.includes('=')) return text.indexOf('=') + 1
  return SHORT_WITH_VALUE.test(text) ? 2 : text.length
}
