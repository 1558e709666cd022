import { type ApiVersion, GROUP } from './exec-config.ts'
import { encodeJson } from './json.ts'

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

/** The response that made us ask for a new credential. Told to v1alpha1 plugins only. */
export interface ExecResponse {
  readonly code: number
  readonly header: Readonly<Record<string, readonly string[]>>
}

export interface ExecInfo {
  readonly apiVersion: ApiVersion
  readonly interactive: boolean
  readonly cluster?: ExecCluster | undefined
  readonly response?: ExecResponse | undefined
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
  response,
  kind = 'ExecCredential',
}: ExecInfo): unknown {
  const told = {
    response: response && { header: response.header, code: response.code },
    interactive,
  }
  return { kind, apiVersion, spec: told, ...told }
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
