import type { Refusal } from '../credential/credential.ts'
import { ExecInfoError } from '../errors/index.ts'
import { encodeJson } from '../formats/json.ts'
import { describeType, type Fields, isFields, withoutUndefined } from '../formats/plain-object.ts'
import { tryParseUrl } from '../formats/server-url.ts'
import { API_VERSIONS, type ApiVersion, GROUP, isApiVersion } from '../kubeconfig/exec-config.ts'
import { type FieldErrors, FieldReader } from '../kubeconfig/field-reader.ts'
import { CLUSTER_FIELDS, type EntryOf, type PlainOf, type Present } from '../kubeconfig/fields.ts'

/** All fields of a cluster entry except paths: plugins get the content of files. */
const { certificateAuthority: _, ...EXEC_FIELDS } = CLUSTER_FIELDS

/** The cluster as passed to a plugin: after selection and all overrides, with the CA as data. */
export interface ExecCluster extends Omit<PlainOf<typeof CLUSTER_FIELDS>, 'certificateAuthority'> {
  readonly server: string
  /** Standard base64 of the PEM bytes. */
  readonly certificateAuthorityData?: string | undefined
  /** The extension `client.authentication.k8s.io/exec` of the cluster entry, unchanged. */
  readonly config?: unknown
}

/**
 * The key under which a `Cluster` has its description for plugins.
 *
 * Registered globally, so that all copies of this package share it.
 */
export const EXEC_CLUSTER = Symbol.for('kubecred/exec-cluster/1')

/** Something that can be described to a plugin: a `Cluster`. */
export interface HasExecCluster {
  readonly [EXEC_CLUSTER]: ExecCluster
}

/** The input of a plugin. */
export interface ExecInfo {
  readonly apiVersion: ApiVersion
  readonly interactive: boolean
  readonly cluster?: ExecCluster | undefined
  /** The refusal that led to this run. Only v1alpha1 plugins receive it. */
  readonly refusal?: Refusal | undefined
  /** `ExecInfo` is the kind of the first proposal, which some v1alpha1 plugins expect. */
  readonly kind?: 'ExecCredential' | 'ExecInfo' | undefined
}

/** Encodes the value of `KUBERNETES_EXEC_INFO` as one line of JSON. */
export function encodeExecInfo(info: ExecInfo): string {
  if (info.apiVersion === `${GROUP}/v1alpha1`) return encodeJson(alphaInfo(info))
  return encodeJson({
    kind: 'ExecCredential',
    apiVersion: info.apiVersion,
    spec: { cluster: info.cluster && clusterFields(info.cluster), interactive: info.interactive },
  })
}

/** v1alpha1 was proposed with flat fields and shipped with `spec`: both are written, and never the cluster. */
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

/** The response in v1alpha1 form: header names in Go's canonical form, each with a list of values. */
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

/** The cluster that the credential is for, with the field names of a kubeconfig cluster entry. */
export interface PluginCluster
  extends Omit<Present<EntryOf<typeof CLUSTER_FIELDS>>, 'server' | 'certificateAuthority'> {
  /** Unchanged from the client. */
  readonly server: string
  /** PEM, already decoded from base64. Without it, the system roots are trusted. */
  readonly certificateAuthorityData?: string
  /** The extension `client.authentication.k8s.io/exec` of the cluster entry; integers beyond 2^53 are `bigint`. */
  readonly config?: unknown
}

/** The input of a plugin, in any version of the protocol. */
export interface PluginInfo {
  /** The version to answer in. */
  readonly apiVersion: ApiVersion
  /** Whether standard input is a terminal where the user can be prompted. */
  readonly interactive: boolean
  /** Set only with `provideClusterInfo: true`, and never in v1alpha1. */
  readonly cluster?: PluginCluster
  /** The response of the server that led to this run, usually a 401. Only in v1alpha1. */
  readonly response?: {
    readonly code: number
    readonly header: Readonly<Record<string, readonly string[]>>
  }
}

/**
 * Decodes the input of a plugin from parsed JSON or YAML.
 *
 * As in the helper of client-go, kind and version are required, unknown fields are ignored, and `null` means absent.
 * Unlike there, the cluster may be missing.
 *
 * @throws {ExecInfoError} `ERR_EXEC_INFO` with the name of the invalid field, never its value.
 */
export function decodeExecInfo(value: unknown): PluginInfo {
  if (!isFields(value)) {
    throw new ExecInfoError('', `contains ${describeType(value)} instead of an object`)
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
    const wanted = expected === 'a mapping' ? 'an object' : expected
    return new ExecInfoError(path, `is ${describeType(value)} instead of ${wanted}`, {
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
  const isKnown =
    kind === 'ExecCredential' || (kind === 'ExecInfo' && apiVersion === API_VERSIONS[2])
  if (!isKnown) {
    throw top.error('kind', `is ${show(kind)}, not ExecCredential of ${GROUP}`, FROM_A_CLIENT)
  }
  if (isApiVersion(apiVersion)) return apiVersion
  if (apiVersion.startsWith(`${GROUP}/`)) {
    const supported = API_VERSIONS.map((version) => version.slice(GROUP.length + 1)).join(', ')
    throw top.error(
      'apiVersion',
      `is ${show(apiVersion)}, which is not supported`,
      `Set exec.apiVersion in the kubeconfig to ${GROUP}/v1 (supported: ${supported}).`,
    )
  }
  throw top.error('apiVersion', `is ${show(apiVersion)}, not of the group ${GROUP}`, FROM_A_CLIENT)
}

const FROM_A_CLIENT = 'Let a Kubernetes client set the variable; do not set it to another object.'

/** Shows what looks like a kind or version; anything else may be a secret. */
function show(name: string): string {
  if (name === '') return 'missing'
  return /^[A-Za-z0-9./-]{1,80}$/.test(name) ? JSON.stringify(name) : 'something else'
}

/** v1alpha1 was proposed with top-level fields and shipped with `spec`: both are read, `spec` first. */
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
    throw response.wrongType('code', 'an integer', code)
  }
  const header = response.mapping('header')
  return {
    code,
    header: Object.fromEntries(header.keys().map((name) => [name, readStrings(header, name)])),
  }
}

function readStrings(header: FieldReader, name: string): readonly string[] {
  const value = header.raw(name) ?? []
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'string')
  if (isList) return value
  throw header.wrongType(name, 'a list of strings', value)
}

function readCluster(cluster: FieldReader): PluginCluster {
  const fields = cluster.entry(EXEC_FIELDS)
  const { server, proxyUrl } = fields
  if (server === undefined) {
    throw cluster.error('server', 'is missing', 'Report it to the author of the client.')
  }
  // As in client-go, any scheme is accepted here; it is checked on connecting.
  if (proxyUrl !== undefined && !tryParseUrl(proxyUrl.expose())?.hostname) {
    throw cluster.error(
      'proxy-url',
      'is not a URL',
      'Write proxy-url in the kubeconfig as http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT.',
    )
  }
  return withoutUndefined<PluginCluster>({ ...fields, server, config: cluster.raw('config') })
}
