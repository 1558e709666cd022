import { accessSync, constants, statSync } from 'node:fs'
import type { ConnectOptions } from 'kubecred'
import type { Io } from '../command.ts'
import { UsageError } from '../usage-error.ts'
import type { FlagValues } from './flag-values.ts'
import { pluginPolicy } from './plugin-policy.ts'

/** Turns the common flags into what `connect()` takes; both are named as kubectl's. */
export function connectOptions(
  flags: FlagValues,
  io: Pick<Io, 'env' | 'isTerminal'>,
): ConnectOptions {
  return {
    kubeconfig: flags.text('kubeconfig'),
    kuberc: flags.text('kuberc'),
    context: flags.text('context'),
    cluster: flags.text('cluster'),
    user: flags.text('user'),
    namespace: flags.text('namespace'),
    server: flags.text('server'),
    tlsServerName: flags.text('tls-server-name'),
    certificateAuthority: readableFile(flags, 'certificate-authority'),
    insecureSkipTlsVerify: flags.isOn('insecure-skip-tls-verify'),
    proxyUrl: flags.text('proxy-url'),
    disableCompression: flags.isOn('disable-compression'),
    saveOidcTokens: flags.isOn('save-oidc-tokens'),
    token: flags.text('token'),
    username: flags.text('username'),
    password: flags.text('password'),
    clientCertificate: readableFile(flags, 'client-certificate'),
    clientKey: readableFile(flags, 'client-key'),
    as: flags.text('as'),
    asUid: flags.text('as-uid'),
    asGroups: flags.list('as-group'),
    asUserExtra: readExtra(flags.list('as-user-extra')),
    policy: pluginPolicy(flags, io),
  }
}

/** Checked here, where the flag is known: later it is a file like any that the kubeconfig names. */
function readableFile(
  flags: FlagValues,
  name: 'certificate-authority' | 'client-certificate' | 'client-key',
): string | undefined {
  const path = flags.text(name)
  if (path === undefined) return undefined
  try {
    if (statSync(path).isDirectory()) throw new Error('it is a folder')
    accessSync(path, constants.R_OK)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const reason = REASONS[code ?? ''] ?? message
    throw new UsageError(`flag --${name}: cannot read ${JSON.stringify(path)}: ${reason}`)
  }
  return path
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'permission denied',
}

function readExtra(pairs: readonly string[]): Record<string, string[]> {
  const extra = new Map<string, string[]>()
  for (const pair of pairs) {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? []
    if (key === undefined || value === undefined) {
      throw new UsageError(`flag --as-user-extra takes KEY=VALUE, not ${JSON.stringify(pair)}`)
    }
    extra.set(key, [...(extra.get(key) ?? []), value])
  }
  return Object.fromEntries(extra)
}
