import type { Refusal } from '../credential/refusal.ts'
import { ExecInfoError } from '../errors/index.ts'
import { encodeJson } from '../formats/json.ts'
import { describeType, type Fields, isFields, withoutUndefined } from '../formats/plain-object.ts'
import { tryParseUrl } from '../formats/server-url.ts'
import { API_VERSIONS, type ApiVersion, GROUP, isApiVersion } from '../kubeconfig/exec-config.ts'
import { type FieldErrors, FieldReader } from '../kubeconfig/field-reader.ts'
import { CLUSTER_FIELDS, type EntryOf, type PlainOf, type Present } from '../kubeconfig/fields.ts'

/** Every field of a cluster entry but paths: plugins get the content of files. */
const { certificateAuthority: _, ...EXEC_FIELDS } = CLUSTER_FIELDS

/** The cluster as a plugin sees it: after selection and all overrides, with the CA as data. */
export interface ExecCluster extends Omit<PlainOf<typeof CLUSTER_FIELDS>, 'certificateAuthority'> {
  readonly server: string
  /** Standard base64 of the PEM bytes. */
  readonly certificateAuthorityData?: string | undefined
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
  const values: Fields = { ...cluster }
  return {
    ...Object.fromEntries(
      Object.entries(EXEC_FIELDS).map(([name, { key }]) => [key, values[name] || undefined]),
    ),
    server: cluster.server,
    // client-go writes null where there is no extension; plugins may rely on the key.
    config: cluster.config ?? null,
  }
}

/** The cluster that a plugin is asked for. The names are those of a kubeconfig's cluster entry. */
export interface PluginCluster
  extends Omit<Present<EntryOf<typeof CLUSTER_FIELDS>>, 'server' | 'certificateAuthority'> {
  /** As the client wrote it. */
  readonly server: string
  /** PEM, already decoded from base64; without it the system's roots count. */
  readonly certificateAuthorityData?: string
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
    throw new ExecInfoError('', `holds ${describeType(value)} where an object belongs`)
  }
  const top = new FieldReader(value, EXEC_INFO_ERRORS)
  const apiVersion = readVersion(top)
  const spec = top.mapping('spec')
  if (apiVersion === `${GROUP}/v1alpha1`) return readAlpha(apiVersion, spec, top)
  return {
    apiVersion,
    interactive: spec.boolean('interactive') ?? false,
    ...(spec.raw('cluster') !== undefined && { cluster: readCluster(spec.mapping('cluster')) }),
  }
}

const EXEC_INFO_ERRORS: FieldErrors = {
  error: (path, what, hint) => new ExecInfoError(path, what, { hint }),
  wrongType: (path, expected, value) => {
    const belongs = expected === 'a mapping' ? 'an object' : expected
    return new ExecInfoError(path, `is ${describeType(value)} where ${belongs} belongs`, {
      hint: 'Report it to the author of the client: it does not follow the protocol.',
    })
  },
  notBase64: (path) =>
    new ExecInfoError(path, 'is not valid base64', {
      hint: 'Encode the PEM file again: base64 -w0 FILE.',
    }),
}

function readVersion(top: FieldReader): ApiVersion {
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
function readAlpha(apiVersion: ApiVersion, spec: FieldReader, top: FieldReader): PluginInfo {
  const place = [spec, top].find((each) => each.raw('response') !== undefined)
  return {
    apiVersion,
    interactive: spec.boolean('interactive') ?? top.boolean('interactive') ?? false,
    ...(place && { response: readResponse(place.mapping('response')) }),
  }
}

function readResponse(response: FieldReader): NonNullable<PluginInfo['response']> {
  const code = response.raw('code') ?? 0
  if (typeof code !== 'number' || !Number.isSafeInteger(code)) {
    throw response.wrongType('code', 'a whole number', code)
  }
  const header = response.mapping('header')
  return {
    code,
    header: Object.fromEntries(header.keys().map((name) => [name, readTexts(header, name)])),
  }
}

function readTexts(header: FieldReader, name: string): readonly string[] {
  const value = header.raw(name) ?? []
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'string')
  if (isList) return value
  throw header.wrongType(name, 'a list of texts', value)
}

function readCluster(cluster: FieldReader): PluginCluster {
  const fields = cluster.entry(EXEC_FIELDS)
  const { server, proxyUrl } = fields
  if (server === undefined) {
    throw cluster.error('server', 'is missing', 'Report it to the author of the client.')
  }
  // As in client-go the scheme does not matter here: that is for those who connect through it.
  if (proxyUrl !== undefined && !tryParseUrl(proxyUrl.expose())?.hostname) {
    throw cluster.error(
      'proxy-url',
      'is not a URL',
      'Write proxy-url in the kubeconfig as http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT.',
    )
  }
  return withoutUndefined<PluginCluster>({ ...fields, server, config: cluster.raw('config') })
}
