import { exhaustedError, KubeconfigSyntaxError, SignerConfigError } from '../errors/index.ts'
import { parseYaml, YamlError } from '../formats/yaml.ts'
import { Secret } from '../secret/secret.ts'
import { EXTERNAL_SIGNER } from './external-signer-config.ts'
import { FieldReader, kubeconfigErrors } from './field-reader.ts'
import { CLUSTER_FIELDS, USER_FIELDS } from './fields.ts'
import {
  type Inline,
  isKubeconfigText,
  type KubeconfigObject,
  type KubeconfigText,
} from './inline-kubeconfig.ts'
import type {
  AuthProviderEntry,
  ClusterEntry,
  ContextEntry,
  ExecEntry,
  Extensions,
  Kubeconfig,
  UserEntry,
} from './kubeconfig.ts'
import { quoteName } from './problem.ts'

/**
 * Parses the text of a kubeconfig file.
 *
 * @throws {KubeconfigSyntaxError} `ERR_KUBECONFIG_SYNTAX` with the line or field; the text contains secrets and is never quoted.
 */
export function parseKubeconfigText(text: string, file: string): Kubeconfig {
  return parseKubeconfig(readYaml(text, file), file)
}

/**
 * Parses a kubeconfig that was passed as text or object.
 *
 * @param folder The folder that relative paths resolve against, as an absolute path.
 * @throws {KubeconfigSyntaxError} `ERR_KUBECONFIG_SYNTAX` with the line or the field.
 */
export function parseInlineKubeconfig(
  given: KubeconfigText | KubeconfigObject,
  folder: string | undefined,
): Kubeconfig {
  const data = isKubeconfigText(given) ? readYaml(given.text, NO_FILE) : given
  return parseKubeconfig(data, undefined, { folder })
}

function readYaml(text: string, file: string): unknown {
  try {
    return parseYaml(text)
  } catch (error) {
    // The program loads the YAML parser when it first needs it.
    const exhausted = exhaustedError(error)
    if (exhausted !== undefined) throw exhausted
    // The message of any other error may contain a part of the text.
    const { message, line } = error instanceof YamlError ? error : new YamlError('invalid YAML')
    throw new KubeconfigSyntaxError(file, message, {
      hint:
        line === undefined
          ? 'Check that the file is a kubeconfig.'
          : `Correct line ${line}, or check that the file is a kubeconfig.`,
    })
  }
}

/** The file name in messages for configuration that does not come from a file. */
const NO_FILE = '<given>'

/**
 * Converts parsed YAML into a kubeconfig.
 *
 * The types of all fields are checked, as in client-go, which decodes the whole file. Entries are validated only when
 * they are selected. Secrets are wrapped in `Secret` here, before any other code sees them.
 *
 * @param file Absolute path of the file of origin; undefined when there is none.
 * @param inline Set if it was passed as text or object.
 * @throws {KubeconfigSyntaxError} Names file, entry and field, what was expected and what type came.
 */
export function parseKubeconfig(data: unknown, file?: string, inline?: Inline): Kubeconfig {
  const root = new FieldReader(data, kubeconfigErrors(file ?? NO_FILE))
  const origin = { file, ...(inline && { inline }) }
  checkConstant(root, 'apiVersion', 'v1')
  checkConstant(root, 'kind', 'Config')
  return {
    clusters: parseNamedList(root, 'clusters', 'cluster', origin, parseCluster),
    users: parseNamedList(root, 'users', 'user', origin, parseUser),
    contexts: parseNamedList(root, 'contexts', 'context', origin, parseContext),
    currentContext: root.text('current-context'),
    extensions: parseExtensions(root),
    files: file === undefined ? [] : [file],
    ...(inline && { inline }),
  }
}

function checkConstant(root: FieldReader, key: string, expected: string): void {
  const value = root.text(key)
  if (value === undefined || value === expected) return
  throw root.error(
    key,
    `must be "${expected}"`,
    'Check that the file is a kubeconfig and not another Kubernetes manifest.',
  )
}

function parseContext(fields: FieldReader, head: EntryHead): ContextEntry {
  return {
    ...head,
    cluster: fields.text('cluster'),
    user: fields.text('user'),
    namespace: fields.text('namespace'),
    extensions: parseExtensions(fields),
  }
}

function parseCluster(fields: FieldReader, head: EntryHead): ClusterEntry {
  return {
    ...head,
    ...fields.entry(CLUSTER_FIELDS),
    extensions: parseExtensions(fields),
  }
}

function parseUser(fields: FieldReader, head: EntryHead): UserEntry {
  return {
    ...head,
    ...fields.entry(USER_FIELDS),
    authProvider: parseAuthProvider(fields),
    exec: parseExec(fields),
    extensions: parseExtensions(fields),
  }
}

function parseAuthProvider(user: FieldReader): AuthProviderEntry | undefined {
  if (user.raw('auth-provider') === undefined) return undefined
  const provider = user.mapping('auth-provider')
  const config = provider.mapping('config')
  const name = provider.text('name') ?? ''
  if (name === EXTERNAL_SIGNER) return { name, ...signerParameters(config) }
  return { name, config: new Map(config.keys().map((key) => [key, parameter(config, key)])) }
}

function parameter(config: FieldReader, key: string): Secret {
  return config.secret(key) ?? new Secret('')
}

/**
 * Reads the parameters of an external signer, which must be strings although many look like numbers, as in `slotId: 0`.
 *
 * Such a mistake is an error only if this user is selected, so that the other users in the file stay usable.
 */
function signerParameters(config: FieldReader): Omit<AuthProviderEntry, 'name'> {
  const parameters = new Map<string, Secret>()
  for (const key of config.keys()) {
    try {
      parameters.set(key, parameter(config, key))
    } catch (error) {
      if (!(error instanceof KubeconfigSyntaxError)) throw error
      const problem = new SignerConfigError(error.message, { hint: error.hint })
      return { config: parameters, problem }
    }
  }
  return { config: parameters }
}

function parseExec(user: FieldReader): ExecEntry | undefined {
  if (user.raw('exec') === undefined) return undefined
  const exec = user.mapping('exec')
  return {
    apiVersion: exec.text('apiVersion'),
    command: exec.text('command'),
    args: exec.texts('args').map((arg) => new Secret(arg)),
    env: exec.mappings('env').map((variable) => ({
      name: variable.text('name'),
      value: variable.secret('value') ?? new Secret(''),
    })),
    installHint: exec.text('installHint'),
    provideClusterInfo: exec.boolean('provideClusterInfo') ?? false,
    interactiveMode: exec.text('interactiveMode'),
  }
}

/** Name and origin of an entry. */
interface EntryHead {
  readonly name: string
  readonly file: string | undefined
  readonly inline?: Inline
}

/**
 * Converts a list of `{ name, <inner>: … }` into a map.
 *
 * As in client-go, two entries with the same name in one file are an error.
 */
function parseNamedList<T>(
  root: FieldReader,
  list: string,
  inner: string,
  origin: Omit<EntryHead, 'name'>,
  parse: (fields: FieldReader, head: EntryHead) => T,
): ReadonlyMap<string, T> {
  const positions = new Map<string, number>()
  const entries = new Map<string, T>()
  for (const [index, item] of root.mappings(list).entries()) {
    const name = item.text('name') ?? ''
    rejectDuplicate(root, list, name, positions.get(name), index)
    positions.set(name, index)
    const path = (): string =>
      name === '' ? item.pathOf('') : `${item.pathOf('')} ${quoteName(name)}`
    entries.set(name, parse(item.mapping(inner, path), { name, ...origin }))
  }
  return entries
}

/** Shared by all entries that have none. */
const NONE: Extensions = new Map()

/** Reads the `extensions` of a kubeconfig or of an entry; their content is kept unchanged. */
function parseExtensions(owner: FieldReader): Extensions {
  const items = owner.mappings('extensions')
  if (items.length === 0) return NONE
  const positions = new Map<string, number>()
  const extensions = new Map<string, unknown>()
  for (const [index, item] of items.entries()) {
    const name = item.text('name') ?? ''
    rejectDuplicate(owner, 'extensions', name, positions.get(name), index)
    const content = item.raw('extension')
    // In client-go, an extension without content may be followed by another of the same name.
    if (content !== undefined) positions.set(name, index)
    extensions.set(name, content ?? null)
  }
  return extensions
}

function rejectDuplicate(
  owner: FieldReader,
  list: string,
  name: string,
  first: number | undefined,
  second: number,
): void {
  if (first === undefined) return
  throw owner.error(
    list,
    `has a duplicate name ${quoteName(name)} in list, at positions ${first} and ${second}`,
    `Remove or rename one of the two entries, ${list}[${first}] or ${list}[${second}].`,
  )
}
