import { type ApiVersion, GROUP } from './exec-config.ts'
import { encodeJson } from './json.ts'
import type { Refusal } from './refusal.ts'

/** The cluster as a plugin sees it: after selection and all overrides, with the CA as data. */
export interface ExecCluster {
  readonly server: string
  readonly tlsServerName?: string | undefined
  readonly insecureSkipTlsVerify?: boolean | undefined
  /** Standard base64 of the PEM bytes. */
  readonly certificateAuthorityData?: string | undefined
  readonly proxyUrl?: string | undefined
  readonly disableCompression?: boolean | undefined
  /** The reserved extension of the cluster entry, passed on as it is. */
  readonly config?: unknown
}

/** Where a connection keeps what plugins may know of its cluster; a symbol all copies of this package know. */
export const EXEC_CLUSTER = Symbol.for('kubecred/exec-cluster/1')

/** Something that can be described to a plugin: a `Cluster`. */
export interface HasExecCluster {
  readonly [EXEC_CLUSTER]: ExecCluster
}

export interface ExecInfo {
  readonly apiVersion: ApiVersion
  readonly interactive: boolean
  readonly cluster?: ExecCluster | undefined
  /** Why a new credential is asked for. Only v1alpha1 plugins receive it. */
  readonly refusal?: Refusal | undefined
  /** Writes the kind of the first proposal, for v1alpha1 plugins that look for it. */
  readonly kind?: 'ExecCredential' | 'ExecInfo' | undefined
}

/** Writes what goes into `KUBERNETES_EXEC_INFO`: one line of JSON. */
export function encodeExecInfo(info: ExecInfo): string {
  if (info.apiVersion === `${GROUP}/v1alpha1`) return encodeJson(alphaInfo(info))
  return encodeJson({
    kind: 'ExecCredential',
    apiVersion: info.apiVersion,
    spec: { cluster: info.cluster && clusterFields(info.cluster), interactive: info.interactive },
  })
}

/** v1alpha1 was drawn with flat fields and shipped with `spec`: we write both, and never the cluster. */
function alphaInfo({
  apiVersion,
  interactive,
  refusal,
  kind = 'ExecCredential',
}: ExecInfo): unknown {
  const fields = { response: refusal && execResponse(refusal), interactive }
  return { kind, apiVersion, spec: fields, ...fields }
}

interface ExecResponse {
  readonly header: Readonly<Record<string, readonly string[]>>
  readonly code: number
}

/** The response as v1alpha1 has it: names as Go writes them, each with a list of values. */
function execResponse({ status, headers }: Refusal): ExecResponse {
  const header = Object.entries(headers).flatMap(([name, value]) => {
    const canonical = name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())
    return value === undefined ? [] : [[canonical, [value].flat()] as const]
  })
  return { header: Object.fromEntries(header), code: status }
}

function clusterFields(cluster: ExecCluster): unknown {
  return {
    server: cluster.server,
    'tls-server-name': cluster.tlsServerName || undefined,
    'insecure-skip-tls-verify': cluster.insecureSkipTlsVerify || undefined,
    'certificate-authority-data': cluster.certificateAuthorityData || undefined,
    'proxy-url': cluster.proxyUrl || undefined,
    'disable-compression': cluster.disableCompression || undefined,
    // client-go writes null where there is no extension; plugins may rely on the key.
    config: cluster.config ?? null,
  }
}
