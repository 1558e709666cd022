import type { ConnectOptions } from 'kubecred'
import { UsageError } from '../usage-error.ts'
import type { FlagValues } from './flag-values.ts'

/** Turns the common flags into what `connect()` takes; both are named as kubectl's. */
export function connectOptions(flags: FlagValues): ConnectOptions {
  return {
    kubeconfig: flags.text('kubeconfig'),
    kuberc: flags.text('kuberc'),
    context: flags.text('context'),
    cluster: flags.text('cluster'),
    user: flags.text('user'),
    namespace: flags.text('namespace'),
    server: flags.text('server'),
    tlsServerName: flags.text('tls-server-name'),
    certificateAuthority: flags.text('certificate-authority'),
    insecureSkipTlsVerify: flags.isOn('insecure-skip-tls-verify'),
    proxyUrl: flags.text('proxy-url'),
    disableCompression: flags.isOn('disable-compression'),
    saveOidcTokens: flags.isOn('save-oidc-tokens'),
    token: flags.text('token'),
    username: flags.text('username'),
    password: flags.text('password'),
    clientCertificate: flags.text('client-certificate'),
    clientKey: flags.text('client-key'),
    as: flags.text('as'),
    asUid: flags.text('as-uid'),
    asGroups: flags.list('as-group'),
    asUserExtra: readExtra(flags.list('as-user-extra')),
  }
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
