import type { Refusal } from '../credential/refusal.ts'
import { ExecInfoError } from '../errors/index.ts'
import { decodeBase64 } from '../formats/base64.ts'
import { encodeJson } from '../formats/json.ts'
import { type Fields, isFields, nameType } from '../formats/plain-object.ts'
import { tryParse } from '../formats/server-url.ts'
import { API_VERSIONS, type ApiVersion, GROUP, isApiVersion } from '../kubeconfig/exec-config.ts'
import { Secret } from '../secret/secret.ts'

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

/**
 * Reads typed fields out of one object of `KUBERNETES_EXEC_INFO`, and knows where it stands.
 *
 * As in Go's decoder `null`, an absent key and empty text mean the same: undefined here. A value of another
 * type is an error that names the type that came, never the value.
 */
class ExecInfoFields {
  readonly #values: Fields
  readonly #path: string

  constructor(values: Fields, path: string) {
    this.#values = values
    this.#path = path
  }

  raw(key: string): unknown {
    return Object.hasOwn(this.#values, key) ? (this.#values[key] ?? undefined) : undefined
  }

  text(key: string): string | undefined {
    const value = this.raw(key)
    if (value === undefined || value === '') return undefined
    if (typeof value === 'string') return value
    throw this.#wrongType(key, value, 'text belongs')
  }

  flag(key: string): boolean | undefined {
    const value = this.raw(key)
    if (value === undefined || typeof value === 'boolean') return value
    throw this.#wrongType(key, value, 'true or false belongs')
  }

  integer(key: string): number | undefined {
    const value = this.raw(key)
    if (value === undefined) return undefined
    if (typeof value === 'number' && Number.isSafeInteger(value)) return value
    throw this.#wrongType(key, value, 'a whole number belongs')
  }

  object(key: string): ExecInfoFields | undefined {
    const value = this.raw(key)
    if (value === undefined) return undefined
    if (isFields(value)) return new ExecInfoFields(value, this.#pathOf(key))
    throw this.#wrongType(key, value, 'an object belongs')
  }

  /** An object whose members are lists of text, as Go writes the headers of a response. */
  textLists(key: string): Readonly<Record<string, readonly string[]>> {
    const lists = this.object(key)
    if (lists === undefined) return {}
    return Object.fromEntries(lists.#entries().map(([name]) => [name, lists.#texts(name)]))
  }

  error(key: string, what: string, hint: string): ExecInfoError {
    return new ExecInfoError(this.#pathOf(key), what, { hint })
  }

  #texts(key: string): readonly string[] {
    const value = this.raw(key) ?? []
    const isList = Array.isArray(value) && value.every((item) => typeof item === 'string')
    if (isList) return value
    throw this.#wrongType(key, value, 'a list of texts belongs')
  }

  #entries(): readonly [string, unknown][] {
    return Object.entries(this.#values)
  }

  #pathOf(key: string): string {
    return this.#path === '' ? key : `${this.#path}.${key}`
  }

  #wrongType(key: string, value: unknown, expected: string): ExecInfoError {
    return this.error(
      key,
      `is ${nameType(value)} where ${expected}`,
      'Report it to the author of the client: it does not follow the protocol.',
    )
  }
}
