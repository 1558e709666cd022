import { KubeconfigSyntaxError } from '../errors/kubeconfig-errors.ts'
import { SignerConfigError } from '../errors/signer-errors.ts'
import { Secret } from '../secret/secret.ts'
import { EXTERNAL_SIGNER } from './external-signer-config.ts'
import type { Fields } from './fields.ts'
import type { AuthProviderEntry, ExecEntry, UserEntry } from './kubeconfig.ts'
import { type EntryHead, parseExtensions } from './parse-named-list.ts'

/** Reads the body of an entry of `users`; everything secret is boxed at once. */
export function parseUser(fields: Fields, { name, file }: EntryHead): UserEntry {
  const keyData = fields.data('client-key-data')
  return {
    name,
    file,
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

const NO_EXTRA: ReadonlyMap<string, readonly string[]> = new Map()

function parseExtra(extra: Fields): ReadonlyMap<string, readonly string[]> {
  if (extra.keys().length === 0) return NO_EXTRA
  return new Map(extra.keys().map((key) => [key, extra.texts(key)]))
}

function parseAuthProvider(user: Fields): AuthProviderEntry | undefined {
  if (user.raw('auth-provider') === undefined) return undefined
  const provider = user.mapping('auth-provider')
  const config = provider.mapping('config')
  const name = provider.text('name') ?? ''
  if (name === EXTERNAL_SIGNER) return { name, ...signerParameters(config) }
  return { name, config: new Map(config.keys().map((key) => [key, parameter(config, key)])) }
}

function parameter(config: Fields, key: string): Secret {
  return config.secret(key) ?? new Secret('')
}

/**
 * The words of the specification are texts, and their values look like numbers: `slotId: 0` is the usual mistake.
 *
 * It is told to who chooses this user. All others in the file have nothing to do with it.
 */
function signerParameters(config: Fields): Omit<AuthProviderEntry, 'name'> {
  const read = new Map<string, Secret>()
  for (const key of config.keys()) {
    try {
      read.set(key, parameter(config, key))
    } catch (error) {
      if (!(error instanceof KubeconfigSyntaxError)) throw error
      return { config: read, problem: new SignerConfigError(error.message, { hint: error.hint }) }
    }
  }
  return { config: read }
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
