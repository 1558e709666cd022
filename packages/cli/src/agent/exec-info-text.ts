import {
  type ApiVersion,
  decodeExecInfo,
  ExecInfoError,
  encodeJson,
  type Fields,
  isFields,
  parseJson,
} from 'kubecred/internal'

/** The version that has `interactive` at the top level as well. */
const ALPHA = 'client.authentication.k8s.io/v1alpha1' satisfies ApiVersion

/** The exec info of a client, split so that it can be passed on to another plugin. */
export interface ParsedExecInfo {
  readonly apiVersion: ApiVersion
  readonly interactive: boolean
  /** The JSON text without `interactive`, which differs between requesters. */
  readonly text: string
}

/**
 * Parses `KUBERNETES_EXEC_INFO` so that it can be passed on to another plugin unchanged.
 *
 * Accepts only JSON, which is what clients write: loading a YAML parser would take longer than everything else here.
 *
 * @throws {ExecInfoError}
 */
export function splitExecInfo(text: string | undefined): ParsedExecInfo {
  if (text === undefined || text.trim() === '') {
    throw new ExecInfoError('', 'is unset or empty', {
      hint: 'Name kubecred-token in exec.command of a kubeconfig and let a client start it; kubecred wrap does that for you.',
    })
  }
  const value = parse(text)
  const { apiVersion, interactive } = decodeExecInfo(value)
  return { apiVersion, interactive, text: encodeJson(withoutInteractive(value)) }
}

/** Returns the JSON text with `interactive` set. */
export function joinExecInfo(text: string, interactive: boolean): string {
  const value = parse(text)
  const spec = isFields(value['spec']) ? value['spec'] : {}
  // v1alpha1 was designed with its fields at the top level, and shipped with them in `spec`.
  const atTop = value['apiVersion'] === ALPHA ? { interactive } : {}
  return encodeJson({ ...value, ...atTop, spec: { ...spec, interactive } })
}

function parse(text: string): Fields {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (cause) {
    throw new ExecInfoError('', `is not valid JSON: ${(cause as Error).message}`, { cause })
  }
  return isFields(value) ? value : {}
}

function withoutInteractive(value: Fields): Fields {
  const { interactive: _, spec, ...rest } = value
  if (!isFields(spec)) return rest
  const { interactive: __, ...others } = spec
  return { ...rest, spec: others }
}
