import { PolicyInvalidError } from '../errors/index.ts'
import { describeType, type Fields, isFields } from '../formats/plain-object.ts'
import { parseYaml, YamlError } from '../formats/yaml.ts'
import { type AllowlistEntry, checkPluginPolicy, type PluginPolicy } from './plugin-policy.ts'

/** kubectl splits the file at these lines too, before parsing YAML. */
const SEPARATOR = /^---(?:[ \t]+#.*|[ \t]*\r?)$/m
const VERSIONS = ['kubectl.config.k8s.io/v1beta1', 'kubectl.config.k8s.io/v1alpha1']

/**
 * Reads the plugin policy from kubectl's preferences file.
 *
 * Fails closed if the file cannot be decoded, because it may be there to restrict plugins. kubectl warns and allows
 * everything if that happens to the default file.
 *
 * @throws {PolicyInvalidError} `ERR_POLICY_INVALID` with the file and the problem.
 */
export function parseKuberc(text: string, path: string): PluginPolicy {
  const kuberc = firstKnown(text, path)
  if (kuberc === undefined) {
    return checkPluginPolicy({ type: undefined, allowlist: undefined }, path)
  }
  const type = kuberc['credentialPluginPolicy'] ?? undefined
  if (type !== undefined && typeof type !== 'string') {
    return reject(path, `credentialPluginPolicy is ${describeType(type)}, not a string`)
  }
  return checkPluginPolicy(
    { type, allowlist: readAllowlist(kuberc['credentialPluginAllowlist'], path) },
    path,
  )
}

/**
 * Returns the first document in a known version, as kubectl does.
 *
 * A file can have one document per version, for different versions of kubectl. Empty documents are skipped, and so are
 * unknown versions if a known one follows.
 */
function firstKnown(text: string, path: string): Fields | undefined {
  let isEmpty = true
  let linesAbove = 0
  for (const part of text.split(SEPARATOR)) {
    const document = decode('\n'.repeat(linesAbove) + part, path)
    linesAbove += part.split('\n').length - 1
    if (document === null) continue
    if (!isFields(document))
      return reject(path, `it contains ${describeType(document)}, not an object`)
    const { kind, apiVersion } = document
    if (kind !== 'Preference') reject(path, 'its kind is not Preference')
    if (typeof apiVersion === 'string' && VERSIONS.includes(apiVersion)) return document
    isEmpty = false
  }
  if (isEmpty) return undefined
  return reject(path, `its apiVersion is none of ${VERSIONS.join(', ')}`)
}

function decode(text: string, path: string): unknown {
  try {
    return parseYaml(text)
  } catch (error) {
    return reject(path, error instanceof YamlError ? error.message : 'it cannot be parsed')
  }
}

function readAllowlist(value: unknown, path: string): readonly AllowlistEntry[] | undefined {
  if (value === undefined || value === null) return undefined
  if (!Array.isArray(value)) return reject(path, 'credentialPluginAllowlist is not a list')
  return value.map((entry: unknown, index) => readEntry(entry, index + 1, path))
}

/** `name` is what Kubernetes 1.35 called `command`; `sha256` is an extension of kubecred. */
function readEntry(entry: unknown, position: number, path: string): AllowlistEntry {
  if (!isFields(entry)) return reject(path, `allowlist entry ${position} is not an object`)
  const { name, command, sha256 } = entry
  if (name !== undefined && command !== undefined) {
    reject(path, `allowlist entry ${position} has both name and command`)
  }
  const value = command ?? name ?? ''
  if (typeof value !== 'string') return reject(path, `allowlist entry ${position} is not a string`)
  if (sha256 === undefined) return { command: value }
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/i.test(sha256)) {
    return reject(path, `sha256 of allowlist entry ${position} is not 64 hexadecimal digits`)
  }
  return { command: value, sha256 }
}

function reject(path: string, reason: string): never {
  throw new PolicyInvalidError(`${JSON.stringify(path)} cannot be used: ${reason}`, {
    hint: 'Correct the file; until then no credential plugin runs. KUBERC=off ignores it.',
  })
}
