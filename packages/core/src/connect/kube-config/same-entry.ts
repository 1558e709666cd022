import { dirname, resolve } from 'node:path'
import type { ClusterEntry, ExecEntry, UserEntry } from '../../kubeconfig/kubeconfig.ts'

/** Whether two clusters agree in all that client-node keeps of one. */
export function isSameCluster(one: ClusterEntry, other: ClusterEntry, cwd: string): boolean {
  return clusterText(one, cwd) === clusterText(other, cwd)
}

/** Whether two users agree in all that client-node keeps of one. */
export function isSameUser(one: UserEntry, other: UserEntry, cwd: string): boolean {
  return userText(one, cwd) === userText(other, cwd)
}

function clusterText(entry: ClusterEntry, cwd: string): string {
  return JSON.stringify([
    entry.server?.replace(/\/$/, ''),
    entry.tlsServerName,
    entry.insecureSkipTlsVerify,
    absolute(entry.certificateAuthority, entry, cwd),
    entry.certificateAuthorityData,
    entry.proxyUrl?.expose(),
  ])
}

function userText(entry: UserEntry, cwd: string): string {
  return JSON.stringify([
    entry.token?.expose(),
    entry.username,
    entry.password?.expose(),
    absolute(entry.clientCertificate, entry, cwd),
    entry.clientCertificateData,
    absolute(entry.clientKey, entry, cwd),
    entry.clientKeyData?.expose(),
    entry.as,
    entry.exec && execParts(entry.exec),
    providerParts(entry),
  ])
}

function execParts({ args, env, interactiveMode = 'IfAvailable', ...rest }: ExecEntry): unknown {
  return [
    // kubectl writes it down where the file does not say.
    interactiveMode,
    Object.entries(rest).sort(),
    args.map((arg) => arg.expose()),
    env.map(({ name, value }) => [name, value.expose()]),
  ]
}

/** Without the empty values, one of which client-node adds. */
function providerParts({ authProvider }: UserEntry): unknown {
  if (authProvider === undefined) return undefined
  const settings = [...authProvider.config].map(([key, value]) => [key, value.expose()])
  return [authProvider.name, settings.filter(([, value]) => value !== '').sort()]
}

/** client-node makes these paths absolute, against the folder of the file. */
function absolute(
  path: string | undefined,
  { file }: { readonly file: string | undefined },
  cwd: string,
): string | undefined {
  return path === undefined ? undefined : resolve(file === undefined ? cwd : dirname(file), path)
}
