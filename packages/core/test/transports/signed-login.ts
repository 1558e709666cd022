import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import type { ConnectionFields } from 'kubecred/vault'
import { softwareKey } from '../tls/software-key.ts'

const EXEC_INFO = {
  apiVersion: 'client.authentication.k8s.io/v1',
  kind: 'ExecCredential',
  spec: { interactive: false },
}

/** A kubeconfig of the sandbox. */
interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: Readonly<Record<string, string | boolean>> }[]
  readonly users: readonly { readonly user: User }[]
}

interface User {
  readonly exec?: {
    readonly command: string
    readonly args?: readonly string[]
    readonly env?: readonly { readonly name: string; readonly value: string }[]
  }
  readonly 'client-certificate'?: string
  readonly 'client-key'?: string
}

interface Answer {
  readonly token?: string
  readonly clientCertificateData?: string
  readonly clientKeyData?: string
}

/** Logs in with a kubeconfig of the sandbox, but with a signing key. */
export async function signedLogin(path: string): Promise<ConnectionFields> {
  const { clusters, users } = JSON.parse(readFileSync(path, 'utf8')) as Kubeconfig
  const { cluster = {} } = clusters[0] ?? {}
  const { user = {} } = users[0] ?? {}
  const where = {
    server: cluster['server'],
    caData: cluster['certificate-authority-data'],
    caPath: cluster['certificate-authority'],
    insecure: cluster['insecure-skip-tls-verify'],
    proxyUrl: cluster['proxy-url'],
  } as ConnectionFields
  return { ...where, ...(await identityOf(user)) }
}

/** A certificate, with its key as a signing key. */
export function signingWith(
  certificate: string,
  key: string,
): Pick<ConnectionFields, 'certificateData' | 'signingKey'> {
  return { certificateData: certificate, signingKey: softwareKey(key) }
}

async function identityOf({ exec, ...files }: User): Promise<Partial<ConnectionFields>> {
  if (exec === undefined) {
    const { 'client-certificate': certificatePath, 'client-key': keyPath = '' } = files
    return { certificatePath, signingKey: softwareKey(readFileSync(keyPath, 'utf8')) }
  }
  const named = (exec.env ?? []).map(({ name, value }) => [name, value] as const)
  const env = { ...process.env, ...Object.fromEntries(named) }
  const { stdout } = await promisify(execFile)(exec.command, exec.args ?? [], {
    env: { ...env, KUBERNETES_EXEC_INFO: JSON.stringify(EXEC_INFO) },
  })
  const { status } = JSON.parse(stdout) as { status: Answer }
  const { token, clientCertificateData = '', clientKeyData = '' } = status
  return { token, ...signingWith(clientCertificateData, clientKeyData) }
}
