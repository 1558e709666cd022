import { PolicyInvalidError } from '../errors/index.ts'
import { describeType, type Fields, isFields } from '../formats/plain-object.ts'
import { parseYaml, YamlError } from '../formats/yaml.ts'
import { type AllowlistEntry, checkPluginPolicy, type PluginPolicy } from './plugin-policy.ts'

/** kubectl too goes by these lines, before it reads any YAML. */
const SEPARATOR = /^---(?:[ \t]+#.*|[ \t]*\r?)$/m
const VERSIONS = ['kubectl.config.k8s.io/v1beta1', 'kubectl.config.k8s.io/v1alpha1']

/**
 * Reads the plugin policy out of kubectl's preferences file.
 *
 * Unlike kubectl, which warns and then allows everything when the default file cannot be decoded, we
 * fail closed: somebody wrote that file to restrict plugins.
 *
 * @throws {PolicyInvalidError} Names the file and what is wrong with it.
 */
export function parseKuberc(text: string, path: string): PluginPolicy {
  const kuberc = firstKnown(text, path)
  if (kuberc === undefined) {
    return checkPluginPolicy({ type: undefined, allowlist: undefined }, path)
  }
  const type = kuberc['credentialPluginPolicy'] ?? undefined
  if (type !== undefined && typeof type !== 'string') {
    return refuse(path, `credentialPluginPolicy is ${describeType(type)}, not text`)
  }
  return checkPluginPolicy(
    { type, allowlist: readAllowlist(kuberc['credentialPluginAllowlist'], path) },
    path,
  )
}

/**
 * The first document in a version that we know, as in kubectl.
 *
 * People keep one document per version in the file, so that every kubectl finds its own. Empty ones are
 * passed over, and so are other versions if one of ours follows.
 */
function firstKnown(text: string, path: string): Fields | undefined {
  let isEmpty = true
  let linesAbove = 0
  for (const part of text.split(SEPARATOR)) {
    const document = decode('\n'.repeat(linesAbove) + part, path)
    linesAbove += part.split('\n').length - 1
    if (document === null) continue
    if (!isFields(document))
      return refuse(path, `it holds ${describeType(document)}, not an object`)
    const { kind, apiVersion } = document
    if (kind !== 'Preference') refuse(path, 'its kind is not Preference')
    if (typeof apiVersion === 'string' && VERSIONS.includes(apiVersion)) return document
    isEmpty = false
  }
  if (isEmpty) return undefined
  return refuse(path, `its apiVersion is none of ${VERSIONS.join(', ')}`)
}

function decode(text: string, path: string): unknown {
  try {
    return parseYaml(text)
  } catch (error) {
    return refuse(path, error instanceof YamlError ? error.message : 'it cannot be parsed')
  }
}

function readAllowlist(value: unknown, path: string): readonly AllowlistEntry[] | undefined {
  if (value === undefined || value === null) return undefined
  if (!Array.isArray(value)) return refuse(path, 'credentialPluginAllowlist is not a list')
  return value.map((entry: unknown, index) => readEntry(entry, index + 1, path))
}

/** `name` is what Kubernetes 1.35 called `command`; `sha256` is ours. */
function readEntry(entry: unknown, position: number, path: string): AllowlistEntry {
  if (!isFields(entry)) return refuse(path, `allowlist entry ${position} is not an object`)
  const { name, command, sha256 } = entry
  if (name !== undefined && command !== undefined) {
    refuse(path, `allowlist entry ${position} has both name and command`)
  }
  const given = command ?? name ?? ''
  if (typeof given !== 'string') return refuse(path, `allowlist entry ${position} is not text`)
  if (sha256 === undefined) return { command: given }
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/i.test(sha256)) {
    return refuse(path, `sha256 of allowlist entry ${position} is not 64 hexadecimal digits`)
  }
  return { command: given, sha256 }
}

function refuse(path: string, reason: string): never {
  throw new PolicyInvalidError(`${JSON.stringify(path)} cannot be used: ${reason}`, {
    hint: 'Correct the file; until then no credential plugin runs. KUBERC=off ignores it.',
  })
}
