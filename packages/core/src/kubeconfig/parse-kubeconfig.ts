import { KubeconfigSyntaxError, SignerConfigError } from '../errors/index.ts'
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
 * Turns the text of a kubeconfig file into a kubeconfig.
 *
 * @throws {KubeconfigSyntaxError} Names the line or the field; the text holds secrets and is never quoted.
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
    // Only a YamlError is known to hold no piece of the text.
    const reason = error instanceof YamlError ? error.message : 'it cannot be read as YAML'
    throw new KubeconfigSyntaxError(file, reason, {
      hint: 'Check that the file is a kubeconfig, and that its quotes and brackets are closed.',
    })
  }
}

/** What messages call configuration that came from no file. */
const NO_FILE = '<given>'

/**
 * Turns parsed YAML into a kubeconfig.
 *
 * Types are checked everywhere, as client-go does by decoding the whole file; whether an entry makes sense is
 * checked only once it is selected. Secrets are boxed here, before anything else sees them.
 *
 * @param file Absolute path of the file of origin; undefined when there is none.
 * @param inline Set if it was passed as text or object.
 * @throws {KubeconfigSyntaxError} Names file, entry and field, what was expected and what type came.
 */
export function parseKubeconfig(data: unknown, file?: string, inline?: Inline): Kubeconfig {
  const root = new FieldReader(data, kubeconfigErrors(file ?? NO_FILE))
  const origin = { file, ...(inline && { inline }) }
  checkWord(root, 'apiVersion', 'v1')
  checkWord(root, 'kind', 'Config')
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

function checkWord(root: FieldReader, key: string, expected: string): void {
  const word = root.text(key)
  if (word === undefined || word === expected) return
  throw root.error(
    key,
    `must be "${expected}"`,
    'Check that the file is a kubeconfig and not some other Kubernetes manifest.',
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
 * The words of the specification are texts, and their values look like numbers: `slotId: 0` is the usual mistake.
 *
 * It is told to who chooses this user. All others in the file have nothing to do with it.
 */
function signerParameters(config: FieldReader): Omit<AuthProviderEntry, 'name'> {
  const read = new Map<string, Secret>()
  for (const key of config.keys()) {
    try {
      read.set(key, parameter(config, key))
    } catch (error) {
      if (!(error instanceof KubeconfigSyntaxError)) throw error
      return { config: read, problem: new SignerConfigError(error.message, { hint: error.hint }) }
    }
  }
  return { config: read }
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
 * Reads a list of `{ name, <inner>: … }` into a map.
 *
 * Two entries of one name in one file are an error, as in client-go: which one counts would be a guess.
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
    refuseSecond(root, list, name, positions.get(name), index)
    positions.set(name, index)
    const path = (): string =>
      name === '' ? item.pathOf('') : `${item.pathOf('')} ${quoteName(name)}`
    entries.set(name, parse(item.mapping(inner, path), { name, ...origin }))
  }
  return entries
}

/** One for all entries without any. */
const NONE: Extensions = new Map()

/** Reads the `extensions` of a config or of an entry; their content is kept as it is. */
function parseExtensions(owner: FieldReader): Extensions {
  const items = owner.mappings('extensions')
  if (items.length === 0) return NONE
  const positions = new Map<string, number>()
  const extensions = new Map<string, unknown>()
  for (const [index, item] of items.entries()) {
    const name = item.text('name') ?? ''
    refuseSecond(owner, 'extensions', name, positions.get(name), index)
    const content = item.raw('extension')
    // client-go does not count an extension without content as taken.
    if (content !== undefined) positions.set(name, index)
    extensions.set(name, content ?? null)
  }
  return extensions
}

function refuseSecond(
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
