import { Secret } from '../secret/secret.ts'
import type { Fields } from './fields.ts'
import type { AuthProviderEntry, ExecEntry, UserEntry } from './kubeconfig.ts'
import { type EntryHead, parseExtensions } from './parse-named-list.ts'

/** Reads the body of an entry of `users`; everything secret is boxed at once. */
export function parseUser(fields: Fields, head: EntryHead): UserEntry {
  const keyData = fields.data('client-key-data')
  return {
    ...head,
    token: fields.secret('token'),
    tokenFile: fields.text('tokenFile'),
    username: fields.text('username'),
    password: fields.secret('password'),
    clientCertificate: fields.text('client-certificate'),
    clientCertificateData: fields.data('client-certificate-data'),
    clientKey: fields.text('client-key'),
    clientKeyData: keyData === undefined ? undefined : new Secret(keyData),
    as: fields.text('as'),
    asUid: fields.text('as-uid'),
    asGroups: fields.texts('as-groups'),
    asUserExtra: parseExtra(fields.mapping('as-user-extra')),
    authProvider: parseAuthProvider(fields),
    exec: parseExec(fields),
    extensions: parseExtensions(fields),
  }
}

function parseExtra(extra: Fields): ReadonlyMap<string, readonly string[]> {
  return new Map(extra.keys().map((key) => [key, extra.texts(key)]))
}

function parseAuthProvider(user: Fields): AuthProviderEntry | undefined {
  if (user.raw('auth-provider') === undefined) return undefined
  const provider = user.mapping('auth-provider')
  const config = provider.mapping('config')
  const values = config.keys().map((key) => [key, config.secret(key) ?? new Secret('')] as const)
  return { name: provider.text('name') ?? '', config: new Map(values) }
}

function parseExec(user: Fields): ExecEntry | undefined {
  if (user.raw('exec') === undefined) return undefined
  const exec = user.mapping('exec')
  return {
    apiVersion: exec.text('apiVersion'),
    command: exec.text('command'),
    args: exec.texts('args').map((arg) => new Secret(arg)),
    env: exec.mappings('env').map((variable) => ({
      name: variable.text('name'),
      value: variable.secret('value') ?? new Secret(''),
    })),
    installHint: exec.text('installHint'),
    provideClusterInfo: exec.flag('provideClusterInfo'),
    interactiveMode: exec.text('interactiveMode'),
  }
}
