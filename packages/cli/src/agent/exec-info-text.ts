import {
  type ApiVersion,
  decodeExecInfo,
  ExecInfoError,
  encodeJson,
  type Fields,
  isFields,
  parseJson,
} from 'kubecred/internal'

/** The version that has `interactive` at the top, too. */
const ALPHA = 'client.authentication.k8s.io/v1alpha1' satisfies ApiVersion

/** What a client told a plugin, taken apart for passing on. */
export interface PassedInfo {
  readonly apiVersion: ApiVersion
  readonly interactive: boolean
  /** All of it but `interactive`, which differs from one asker to the next. */
  readonly text: string
}

/**
 * Reads `KUBERNETES_EXEC_INFO` so that it can be passed on to another plugin unchanged.
 *
 * Only JSON: that is what clients write, and reading YAML would take longer than all the rest.
 *
 * @throws {ExecInfoError}
 */
export function splitExecInfo(text: string | undefined): PassedInfo {
  if (text === undefined || text.trim() === '') {
    throw new ExecInfoError('', 'is unset or empty', {
      hint: 'Name kubecred-token in exec.command of a kubeconfig and let a client start it; kubecred wrap does that for you.',
    })
  }
  const value = parse(text)
  const { apiVersion, interactive } = decodeExecInfo(value)
  return { apiVersion, interactive, text: encodeJson(withoutInteractive(value)) }
}

/** The text again, for a plugin that may or may not ask. */
export function joinExecInfo(text: string, interactive: boolean): string {
  const value = parse(text)
  const spec = isFields(value['spec']) ? value['spec'] : {}
  // v1alpha1 was drawn with its fields at the top and shipped with them in `spec`.
  const atTop = value['apiVersion'] === ALPHA ? { interactive } : {}
  return encodeJson({ ...value, ...atTop, spec: { ...spec, interactive } })
}

function parse(text: string): Fields {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (cause) {
    throw new ExecInfoError('', `holds broken JSON: ${(cause as Error).message}`, { cause })
  }
  return isFields(value) ? value : {}
}

function withoutInteractive(value: Fields): Fields {
  const { interactive: _, spec, ...rest } = value
  if (!isFields(spec)) return rest
  const { interactive: __, ...others } = spec
  return { ...rest, spec: others }
}
