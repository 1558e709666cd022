import { ExecInfoError } from '../errors/authoring-errors.ts'
import { decodeBase64 } from '../kubeconfig/decode-base64.ts'
import { tryParse } from '../kubeconfig/server-url.ts'
import { Secret } from '../secret/secret.ts'
import { API_VERSIONS, type ApiVersion, GROUP, isApiVersion } from './exec-config.ts'
import { ExecInfoFields } from './exec-info-fields.ts'
import { isFields, nameType } from './plain-object.ts'

/** The cluster that a plugin is asked for. The names are those of a kubeconfig's cluster entry. */
export interface PluginCluster {
  /** As the client wrote it. */
  readonly server: string
  readonly tlsServerName?: string
  readonly insecureSkipTlsVerify: boolean
  /** PEM, already decoded from base64; without it the system's roots count. */
  readonly certificateAuthorityData?: string
  /** In a box, because it may carry a password. */
  readonly proxyUrl?: Secret
  readonly disableCompression: boolean
  /** The extension `client.authentication.k8s.io/exec` of the cluster entry; integers beyond 2^53 are `bigint`. */
  readonly config?: unknown
}

/** What a plugin is told, in all versions of the protocol. */
export interface PluginInfo {
  /** The version to answer in. */
  readonly apiVersion: ApiVersion
  /** Whether standard input is a terminal with a person at it. */
  readonly interactive: boolean
  /** There only with `provideClusterInfo: true`, and not in v1alpha1. */
  readonly cluster?: PluginCluster
  /** The answer of the server that led to this run, usually a 401. Told by v1alpha1 only. */
  readonly response?: {
    readonly code: number
    readonly header: Readonly<Record<string, readonly string[]>>
  }
}

/**
 * Reads what a client told a plugin, from parsed JSON or YAML.
 *
 * As in client-go's helper nothing is assumed: kind and version must be there. Unknown fields are ignored,
 * `null` is the same as absent. Unlike there, a client that says nothing of the cluster is no mistake.
 *
 * @throws {ExecInfoError} Names the field, never its value.
 */
export function decodeExecInfo(value: unknown): PluginInfo {
  if (!isFields(value)) {
    throw new ExecInfoError('', `holds ${nameType(value)} where an object belongs`)
  }
  const top = new ExecInfoFields(value, '')
  const apiVersion = readVersion(top)
  const spec = top.object('spec') ?? new ExecInfoFields({}, 'spec')
  if (apiVersion === `${GROUP}/v1alpha1`) return readAlpha(apiVersion, spec, top)
  const cluster = spec.object('cluster')
  return {
    apiVersion,
    interactive: spec.flag('interactive') ?? false,
    ...(cluster && { cluster: readCluster(cluster) }),
  }
}

function readVersion(top: ExecInfoFields): ApiVersion {
  const apiVersion = top.text('apiVersion') ?? ''
  const kind = top.text('kind') ?? ''
  const isOurs =
    kind === 'ExecCredential' || (kind === 'ExecInfo' && apiVersion === API_VERSIONS[2])
  if (!isOurs) {
    throw top.error('kind', `is ${show(kind)}, not ExecCredential of ${GROUP}`, FROM_A_CLIENT)
  }
  if (isApiVersion(apiVersion)) return apiVersion
  if (apiVersion.startsWith(`${GROUP}/`)) {
    const spoken = API_VERSIONS.map((version) => version.slice(GROUP.length + 1)).join(', ')
    throw top.error(
      'apiVersion',
      `is ${show(apiVersion)}, which is not known here`,
      `Set exec.apiVersion in the kubeconfig to ${GROUP}/v1 (known are ${spoken}).`,
    )
  }
  throw top.error('apiVersion', `is ${show(apiVersion)}, not of the group ${GROUP}`, FROM_A_CLIENT)
}

const FROM_A_CLIENT = 'Let a Kubernetes client set the variable; do not set it to another object.'

/** Names of kinds and versions are no secrets; anything else that stands in their place may be. */
function show(name: string): string {
  if (name === '') return 'missing'
  return /^[A-Za-z0-9./-]{1,80}$/.test(name) ? JSON.stringify(name) : 'something else'
}

/** v1alpha1 was drawn with its fields at the top and shipped with them in `spec`: both are read, `spec` first. */
function readAlpha(apiVersion: ApiVersion, spec: ExecInfoFields, top: ExecInfoFields): PluginInfo {
  const response = spec.object('response') ?? top.object('response')
  return {
    apiVersion,
    interactive: spec.flag('interactive') ?? top.flag('interactive') ?? false,
    ...(response && {
      response: { code: response.integer('code') ?? 0, header: response.textLists('header') },
    }),
  }
}

function readCluster(cluster: ExecInfoFields): PluginCluster {
  const server = cluster.text('server')
  if (server === undefined) {
    throw cluster.error('server', 'is missing', 'Report it to the author of the client.')
  }
  const tlsServerName = cluster.text('tls-server-name')
  const authority = readAuthority(cluster)
  const proxyUrl = readProxy(cluster)
  const config = cluster.raw('config')
  return {
    server,
    ...(tlsServerName !== undefined && { tlsServerName }),
    insecureSkipTlsVerify: cluster.flag('insecure-skip-tls-verify') ?? false,
    ...(authority !== undefined && { certificateAuthorityData: authority }),
    ...(proxyUrl && { proxyUrl }),
    disableCompression: cluster.flag('disable-compression') ?? false,
    ...(config !== undefined && { config }),
  }
}

function readAuthority(cluster: ExecInfoFields): string | undefined {
  const encoded = cluster.text('certificate-authority-data')
  if (encoded === undefined) return undefined
  const decoded = decodeBase64(encoded)
  if (decoded !== undefined) return decoded
  throw cluster.error(
    'certificate-authority-data',
    'is not valid base64',
    'Encode the PEM file again: base64 -w0 FILE.',
  )
}

/** As in client-go the scheme does not matter here: that is for those who connect through it. */
function readProxy(cluster: ExecInfoFields): Secret | undefined {
  const proxyUrl = cluster.text('proxy-url')
  if (proxyUrl === undefined) return undefined
  if ((tryParse(proxyUrl)?.hostname ?? '') !== '') return new Secret(proxyUrl)
  throw cluster.error(
    'proxy-url',
    'is not a URL',
    'Write proxy-url in the kubeconfig as http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT.',
  )
}
