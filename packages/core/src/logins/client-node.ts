import { readFileSync, realpathSync } from 'node:fs'
import nodeModule from 'node:module'
import { dirname, join, resolve } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { ContextNotFoundError, LoginToolFailedError, NotSupportedError } from '../errors/index.ts'
import { checkOptionNames } from '../errors/option-names.ts'
import { quoteName } from '../kubeconfig/problem.ts'
import { scrub, showControlCharacters } from '../secret/scrub.ts'
import type { ConnectionInfo } from '../vault/connection-info.ts'
import {
  describeSelection,
  makeConnection,
  parseSelection,
  type ReadableKubeConfig,
  readProvider,
  type Selection,
  usesOtherAuthenticator,
} from './kube-config-object.ts'
import {
  type LoginMethodContext,
  type LoginMethodOptions,
  toConnectionInfo,
} from './login-method.ts'

/** Options of `loginViaClientNode()`. */
export interface ClientNodeLoginOptions extends LoginMethodOptions {
  /** A loaded `KubeConfig` of the program, read at each login; by default a new one with `loadFromDefault()`. */
  readonly kubeConfig?: ReadableKubeConfig | undefined
  /**
   * The files that the KubeConfig was read from, to look up fields that client-node drops when it reads them; by
   * default KUBECONFIG or `~/.kube/config`.
   */
  readonly files?: string | readonly string[] | undefined
  /** 10 by default. */
  readonly priority?: number | undefined
}

const OPTIONS = Object.keys({
  kubeConfig: true,
  files: true,
  priority: true,
  trustEnv: true,
} satisfies Record<keyof ClientNodeLoginOptions, true>)

/**
 * Logs in with the current context of a `KubeConfig` of @kubernetes/client-node. Plugins are run by kubecred, under its
 * policy.
 *
 * @returns Undefined if the program does not have that package, or its KubeConfig names no cluster.
 * @throws {LoginToolFailedError} `ERR_LOGIN_TOOL_FAILED` if the package cannot be loaded, or cannot read the kubeconfig.
 * @throws {NotSupportedError} `ERR_NOT_SUPPORTED` if the user logs in with an authenticator that the program added.
 *
 * @example
 * const vault = new Vault()
 * vault.onLogin((context) => loginViaClientNode(context), { id: 'client-node' })
 */
export async function loginViaClientNode(
  context: LoginMethodContext,
  options: ClientNodeLoginOptions = {},
): Promise<ConnectionInfo | undefined> {
  checkOptionNames(options, 'loginViaClientNode()', OPTIONS)
  const { kubeConfig, files, priority = 10, trustEnv } = options
  context.signal.throwIfAborted()
  const kc = kubeConfig === undefined ? await loadDefaultKubeConfig() : checkShape(kubeConfig)
  context.signal.throwIfAborted()
  const selection = kc && parseSelection(describeSelection(kc))
  if (selection === undefined || !selection.currentContext || isDefaultConfig(selection))
    return undefined
  rejectUnsupported(kc as ReadableKubeConfig, selection)
  const connection = await makeConnection(selection, { kubeconfig: files })
  return toConnectionInfo(connection, context, { priority, trustEnv })
}

/** Whether this is what client-node makes up if it finds no configuration. */
function isDefaultConfig({ context, cluster, user }: Selection): boolean {
  return (
    context?.name === 'loaded-context' &&
    cluster?.server === 'http://localhost:8080' &&
    Object.keys(cluster).every((key) => key === 'name' || key === 'server') &&
    Object.keys(user ?? {}).every((key) => key === 'name')
  )
}

function checkShape(kc: ReadableKubeConfig): ReadableKubeConfig {
  const { getCurrentContext, getContextObject, getCurrentCluster, getCurrentUser } = Object(kc)
  const methods = [getCurrentContext, getContextObject, getCurrentCluster, getCurrentUser]
  if (methods.every((method) => typeof method === 'function')) return kc
  throw new TypeError(`kubeConfig of loginViaClientNode() must be a KubeConfig of ${CLIENT_NODE}`)
}

function rejectUnsupported(
  kc: ReadableKubeConfig,
  { currentContext, context, user }: Selection,
): void {
  if (context === undefined) throw new ContextNotFoundError(currentContext ?? '', contextNames(kc))
  if (user === undefined || user.token || !usesOtherAuthenticator(kc, user)) return
  const { name } = readProvider(user)
  // buildConnection() has a better error for these.
  if (name === 'azure' || name === 'gcp') return
  throw new NotSupportedError(
    `user ${quoteName(user.name)} of the KubeConfig logs in with an authenticator that was added to it`,
    {
      hint: 'Use attach() of kubecred/client-node, or call the authenticator in your own login handler.',
    },
  )
}

function contextNames(kc: ReadableKubeConfig): string[] {
  const { contexts } = kc as { contexts?: unknown }
  if (!Array.isArray(contexts)) return []
  return contexts.flatMap((each: { name?: unknown }) =>
    typeof each?.name === 'string' ? each.name : [],
  )
}

// Not `{ createRequire }`: webpack replaces it, and a bundle may declare the name once more (docs/bundling.md).

/** The name of the npm package. */
export const CLIENT_NODE = '@kubernetes/client-node'

interface ClientNodeModule {
  readonly KubeConfig: new () => ReadableKubeConfig & { loadFromDefault(): void }
}

/**
 * Finds the program's copy of client-node: the one that its main script would import.
 *
 * Resolution does not start at this package, which with pnpm finds another copy and usually none. It does not start in
 * the current folder either, or the owner of that folder could choose what a program runs; only without a main script
 * (`node --eval`), because Node itself resolves from there then.
 */
export function findClientNode(): string | undefined {
  for (const folder of startFolders(process.argv[1])) {
    try {
      // A file that does not exist inside the script's path: argv[1] may be a file or a folder.
      return nodeModule.createRequire(join(folder, '_')).resolve(CLIENT_NODE)
    } catch {
      // Not installed here.
    }
  }
  return undefined
}

function startFolders(main: string | undefined): readonly string[] {
  if (main === undefined) return [process.cwd()]
  const given = resolve(main)
  try {
    // An installed program is started through a symlink, and its packages are next to the real file.
    return [...new Set([given, realpathSync(given)])]
  } catch {
    return [given]
  }
}

/**
 * Reads the default configuration with the program's copy of client-node.
 *
 * @returns Undefined if the program has no client-node.
 * @throws {LoginToolFailedError} `ERR_LOGIN_TOOL_FAILED` if it cannot be loaded, or cannot read the kubeconfig.
 */
export async function loadDefaultKubeConfig(): Promise<ReadableKubeConfig | undefined> {
  const module = await loadClientNode()
  if (module === undefined) return undefined
  const kc = new module.KubeConfig()
  try {
    kc.loadFromDefault()
  } catch (error) {
    // Not as the cause: client-node's YAML parser quotes the lines around a mistake, which may hold secrets.
    throw new LoginToolFailedError(
      CLIENT_NODE,
      `cannot read the kubeconfig: ${describeReadError(error)}`,
      {
        hint: 'Correct the kubeconfig, or use loginWithKubeconfig, which reads what kubectl reads.',
      },
    )
  }
  return kc
}

async function loadClientNode(): Promise<ClientNodeModule | undefined> {
  const path = findClientNode()
  if (path === undefined) return undefined
  const needs = describeUnmetEngines(CLIENT_NODE, path)
  if (needs !== undefined) throw cannotLoad(path, needs)
  try {
    // Without the comment webpack would look for the file in the bundle.
    const module = (await import(
      /* webpackIgnore: true */ pathToFileURL(path).href
    )) as ClientNodeModule
    if (typeof module.KubeConfig === 'function') return module
  } catch (cause) {
    throw cannotLoad(path, describe(cause), cause)
  }
  throw cannotLoad(path, 'it has no KubeConfig')
}

function cannotLoad(path: string, reason: string, cause?: unknown): LoginToolFailedError {
  return new LoginToolFailedError(
    CLIENT_NODE,
    `cannot be loaded from ${JSON.stringify(path)}: ${reason}`,
    {
      hint: `Install a version of ${CLIENT_NODE} that runs on Node ${process.versions.node}, or log in without it.`,
      cause,
    },
  )
}

function describe(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return scrub(showControlCharacters(text.split('\n', 1)[0] ?? '')).replace(/\.$/, '')
}

/** Describes an error without quoting the file. */
function describeReadError(error: unknown): string {
  const { message, syscall, mark, name } = Object(error)
  const isSafe = syscall !== undefined || SAFE_MESSAGE.test(message)
  if (isSafe) return showControlCharacters(String(message))
  if (typeof mark?.line === 'number') return `it is not valid YAML (line ${mark.line + 1})`
  if (error === null || error === undefined) return `it threw ${String(error)}`
  return `it threw a ${typeof name === 'string' ? name : typeof error}`
}

/** Messages that hold only names of entries and positions in the file. */
const SAFE_MESSAGE = /^Duplicate (?:cluster|user|context): |^\w+\[\d+\][\w.]* is missing$/

interface Manifest {
  readonly name?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly engines?: { readonly node?: string }
}

/**
 * Says whether a package, or one of its dependencies, needs a newer Node; undefined if this Node is new enough.
 *
 * Call it before loading the package: one that fails while it is loaded may end the process, because Node reports the
 * error a second time where it cannot be caught.
 *
 * @param entry The file that would be loaded.
 */
export function describeUnmetEngines(name: string, entry: string): string | undefined {
  const manifest = findManifest(name, dirname(entry))
  const folders = nodeModule.createRequire(entry).resolve.paths(name) ?? []
  const dependencies = Object.keys(manifest?.dependencies ?? {}).map((each) => {
    const found = folders.map((folder) => readManifest(join(folder, each))).find(Boolean)
    return { ...found, name: each }
  })
  const needing = [{ ...manifest, name }, ...dependencies].find(
    ({ engines }) => typeof engines?.node === 'string' && needsNewerNode(engines.node),
  )
  return needing && `${needing.name} needs Node ${needing.engines?.node}`
}

function findManifest(name: string, folder: string): Manifest | undefined {
  const manifest = readManifest(folder)
  if (manifest?.name === name) return manifest
  return dirname(folder) === folder ? undefined : findManifest(name, dirname(folder))
}

function readManifest(folder: string): Manifest | undefined {
  try {
    return Object(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))) as Manifest
  } catch {
    return undefined
  }
}

/** Understands only ranges of the form `>=22.19.0`: other ranges are left to the package manager. */
function needsNewerNode(range: string): boolean {
  const [, ...wanted] = /^>=\s*(\d+)(?:\.(\d+))?(?:\.(\d+))?$/.exec(range.trim()) ?? []
  const here = process.versions.node.split('.').map(Number)
  const differing = wanted.findIndex((part, at) => Number(part ?? 0) !== here[at])
  return differing !== -1 && Number(wanted[differing] ?? 0) > (here[differing] ?? 0)
}
