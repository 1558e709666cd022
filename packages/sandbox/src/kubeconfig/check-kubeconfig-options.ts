import { checkOptionNames } from '../check-names.ts'
import type {
  KubeconfigAuthProvider,
  KubeconfigExec,
  KubeconfigOptions,
  KubeconfigUser,
} from './kubeconfig-options.ts'

/** Pairs of names for the same field of a kubeconfig. */
const ALIASES: readonly (readonly [keyof KubeconfigUser, keyof KubeconfigUser])[] = [
  ['certificate', 'client-certificate-data'],
  ['key', 'client-key-data'],
  ['certificateFile', 'client-certificate'],
  ['keyFile', 'client-key'],
  ['impersonate', 'as'],
  ['impersonateUid', 'as-uid'],
  ['impersonateGroups', 'as-groups'],
  ['impersonateExtra', 'as-user-extra'],
]

/** @throws {TypeError} A field is unknown, or set by both of its names. */
export function checkKubeconfigOptions(options: KubeconfigOptions): void {
  checkOptionNames(options, 'writeKubeconfig()', OPTIONS)
  const { user } = options
  if (user === undefined) return
  checkOptionNames(user, 'the user of writeKubeconfig()', USER)
  for (const [ours, theirs] of ALIASES) {
    if (user[ours] === undefined || user[theirs] === undefined) continue
    throw new TypeError(
      `the user of writeKubeconfig() has ${ours} and ${theirs}, which are the same field; remove one`,
    )
  }
  if (user.exec !== undefined) checkOptionNames(user.exec, 'the exec of writeKubeconfig()', EXEC)
  const provider = user['auth-provider']
  if (provider !== undefined) {
    checkOptionNames(provider, 'the auth-provider of writeKubeconfig()', AUTH_PROVIDER)
  }
}

const OPTIONS = {
  path: true,
  user: true,
  namespace: true,
  server: true,
  tlsServerName: true,
  proxyUrl: true,
  insecureSkipTlsVerify: true,
  extension: true,
} satisfies Record<keyof KubeconfigOptions, true>

const USER = {
  token: true,
  tokenFile: true,
  certificate: true,
  key: true,
  certificateFile: true,
  keyFile: true,
  username: true,
  password: true,
  exec: true,
  'auth-provider': true,
  impersonate: true,
  impersonateUid: true,
  impersonateGroups: true,
  impersonateExtra: true,
  'client-certificate-data': true,
  'client-key-data': true,
  'client-certificate': true,
  'client-key': true,
  as: true,
  'as-uid': true,
  'as-groups': true,
  'as-user-extra': true,
  expirationTimestamp: true,
  notAfter: true,
} satisfies Record<keyof KubeconfigUser, true>

const EXEC = {
  command: true,
  args: true,
  env: true,
  apiVersion: true,
  interactiveMode: true,
  provideClusterInfo: true,
  installHint: true,
} satisfies Record<keyof KubeconfigExec, true>

const AUTH_PROVIDER = {
  name: true,
  config: true,
} satisfies Record<keyof KubeconfigAuthProvider, true>
