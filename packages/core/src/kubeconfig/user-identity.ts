import { type ExecConfig, isApiVersion, isInteractiveMode } from '../protocol/exec-config.ts'
import { showControlCharacters } from '../secret/scrub.ts'
import { Secret } from '../secret/secret.ts'
import { material } from './cluster-target.ts'
import type { Impersonation, UserIdentity } from './connection.ts'
import { externalSignerConfig } from './external-signer-config.ts'
import type { ExecEntry, UserEntry } from './kubeconfig.ts'
import { oidcConfig } from './oidc-config.ts'
import { hasHeaderMethod, hasStaticMethod } from './user-methods.ts'
import { withoutUndefined } from './without-undefined.ts'

/**
 * Converts a checked user entry into what authenticates requests.
 *
 * Over plain http no credential is ever sent, only impersonation, as in client-go. Any static method leaves the
 * plugin out. An inline token beside a token file stays: it serves until the file could be read.
 */
export function userIdentity(user: UserEntry, scheme: 'http' | 'https'): UserIdentity {
  return withoutUndefined<UserIdentity>({
    name: user.name || undefined,
    impersonate: impersonationOf(user),
    ...(scheme === 'https' ? methods(user) : NO_METHODS),
    signing: undefined,
  })
}

type Methods = Omit<Required<UserIdentity>, 'name' | 'impersonate' | 'signing'>
type MaybeMethods = { [K in keyof Methods]: Methods[K] | undefined }

const NO_METHODS: MaybeMethods = {
  token: undefined,
  tokenFile: undefined,
  basic: undefined,
  certificate: undefined,
  exec: undefined,
  oidc: undefined,
  externalSigner: undefined,
}

function methods(user: UserEntry): MaybeMethods {
  const { username, password = new Secret('') } = user
  return {
    token: user.token,
    tokenFile: user.tokenFile,
    basic: username === undefined ? undefined : { username, password },
    certificate: certificate(user),
    exec: user.exec === undefined || hasStaticMethod(user) ? undefined : execConfig(user.exec),
    // A provider yields to an Authorization header, so that a static method makes it unused.
    oidc: hasHeaderMethod(user) ? undefined : oidcConfig(user),
    // Two certificates contradict each other: as with a plugin, the one in the entry is used.
    externalSigner: hasStaticMethod(user) ? undefined : externalSignerConfig(user),
  }
}

function certificate(user: UserEntry): Methods['certificate'] | undefined {
  const chain = material(user.clientCertificate, user.clientCertificateData)
  const key = material(user.clientKey, user.clientKeyData)
  return chain === undefined || key === undefined ? undefined : { chain, key }
}

function execConfig(exec: ExecEntry): ExecConfig {
  const { apiVersion = '', command, interactiveMode = 'IfAvailable', installHint } = exec
  if (command === undefined || !isApiVersion(apiVersion) || !isInteractiveMode(interactiveMode)) {
    throw new TypeError('exec was not checked before')
  }
  return withoutUndefined<ExecConfig>({
    apiVersion,
    command,
    args: [...exec.args],
    env: exec.env.map(({ name = '', value }) => ({ name, value })),
    installHint: installHint === undefined ? undefined : showControlCharacters(installHint),
    provideClusterInfo: exec.provideClusterInfo,
    interactiveMode,
  })
}

/** Whom a user entry asks to act as. */
export function impersonationOf(user: UserEntry): Impersonation | undefined {
  if (user.as === undefined) return undefined
  const extra = [...user.asUserExtra].map(([key, values]) => [key, [...values]] as const)
  return withoutUndefined<Impersonation>({
    user: user.as,
    uid: user.asUid,
    groups: [...user.asGroups],
    extra: Object.fromEntries(extra),
  })
}
