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
  isForeign,
  makeConnection,
  parseSelection,
  type ReadableKubeConfig,
  readProvider,
  type Selection,
} from './kube-config-object.ts'
import { infoOf, type LoginMethodContext, type LoginMethodOptions } from './login-method.ts'

export interface ClientNodeLoginOptions extends LoginMethodOptions {
  /** A `KubeConfig` of the program, loaded already; read again at each login. A new one with its defaults unless given. */
  readonly kubeConfig?: ReadableKubeConfig | undefined
  /**
   * The files that the KubeConfig was read from, to look up what client-node dropped when it read them:
   * KUBECONFIG or `~/.kube/config` unless given.
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
 * Logs in as a `KubeConfig` of @kubernetes/client-node says now. Its plugins run our way, under our policy.
 *
 * @returns Undefined when the program does not have that package, or its KubeConfig names no cluster.
 * @throws {LoginToolFailedError} When the package cannot be loaded, or cannot read the kubeconfig.
 * @throws {NotSupportedError} When the user logs in by an authenticator that the program added.
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
  if (selection === undefined || !selection.currentContext || isNothing(selection)) return undefined
  refuseUnknown(kc as ReadableKubeConfig, selection)
  const connection = await makeConnection(selection, { kubeconfig: files })
  return infoOf(connection, context, { priority, trustEnv })
}

/** What client-node says when it read nothing: an address where hardly any server listens. */
function isNothing({ context, cluster, user }: Selection): boolean {
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
  throw new TypeError(`loginViaClientNode() takes a KubeConfig of ${CLIENT_NODE} as kubeConfig`)
}

function refuseUnknown(kc: ReadableKubeConfig, { currentContext, context, user }: Selection): void {
  if (context === undefined) throw new ContextNotFoundError(currentContext ?? '', contextNames(kc))
  if (user === undefined || user.token || !isForeign(kc, user)) return
  const { name } = readProvider(user)
  // The reader of kubeconfigs has a better answer to these.
  if (name === 'azure' || name === 'gcp') return
  throw new NotSupportedError(
    `user ${quoteName(user.name)} of the KubeConfig logs in by an authenticator that was added to it`,
    {
      hint: 'Use attach() of kubecred/client-node, or call the authenticator in a login handler of your own.',
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

/** The package, as npm has it. */
export const CLIENT_NODE = '@kubernetes/client-node'

interface ClientNodeModule {
  readonly KubeConfig: new () => ReadableKubeConfig & { loadFromDefault(): void }
}

/**
 * Finds the program's own copy of client-node: the one that its main script would import.
 *
 * Not the one that our package would find, which is another with pnpm, and none at all mostly. Not in the current
 * folder either, or the owner of that folder could choose what a program runs; only where there is no main script
 * (`node --eval`), because Node itself looks there then.
 */
export function findClientNode(): string | undefined {
  for (const place of places(process.argv[1])) {
    try {
      // A file that is not there, in the script or the folder it stands in: either may be what was started.
      return nodeModule.createRequire(join(place, '_')).resolve(CLIENT_NODE)
    } catch {
      // Not from here.
    }
  }
  return undefined
}

function places(main: string | undefined): readonly string[] {
  if (main === undefined) return [process.cwd()]
  const given = resolve(main)
  try {
    // A program that is installed is started by a link, and its packages are beside the file.
    return [...new Set([given, realpathSync(given)])]
  } catch {
    return [given]
  }
}

/**
 * Lets the program's own copy of client-node read its configuration.
 *
 * @returns Undefined when the program has none.
 * @throws {LoginToolFailedError} When it cannot be loaded, or cannot read what it finds.
 */
export async function loadDefaultKubeConfig(): Promise<ReadableKubeConfig | undefined> {
  const module = await loadClientNode()
  if (module === undefined) return undefined
  const kc = new module.KubeConfig()
  try {
    kc.loadFromDefault()
  } catch (error) {
    // Not as the cause: the parser of client-node quotes the lines around a mistake.
    throw new LoginToolFailedError(
      CLIENT_NODE,
      `cannot read the kubeconfig: ${describeMistake(error)}`,
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
  const needs = describeNodeNeeds(CLIENT_NODE, path)
  if (needs !== undefined) throw unusable(path, needs)
  try {
    // webpack would look for the file in the bundle.
    const module = (await import(
      /* webpackIgnore: true */ pathToFileURL(path).href
    )) as ClientNodeModule
    if (typeof module.KubeConfig === 'function') return module
  } catch (cause) {
    throw unusable(path, describe(cause), cause)
  }
  throw unusable(path, 'it has no KubeConfig')
}

function unusable(path: string, reason: string, cause?: unknown): LoginToolFailedError {
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

/** Only what cannot be a piece of the file. */
function describeMistake(error: unknown): string {
  const { message, syscall, mark, name } = Object(error)
  const isHarmless = syscall !== undefined || HARMLESS.test(message)
  if (isHarmless) return showControlCharacters(String(message))
  if (typeof mark?.line === 'number') return `it is no YAML (line ${mark.line + 1})`
  if (error === null || error === undefined) return `it threw ${String(error)}`
  return `it threw a ${typeof name === 'string' ? name : typeof error}`
}

/** Names of entries, and places in the file. */
const HARMLESS = /^Duplicate (?:cluster|user|context): |^\w+\[\d+\][\w.]* is missing$/

interface Manifest {
  readonly name?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly engines?: { readonly node?: string }
}

/**
 * Says what a package needs a newer Node for: itself, or one of its dependencies. Undefined when this Node will do.
 *
 * To be asked before it is loaded: a package that breaks while it is loaded may end the whole process, because Node
 * reports the error a second time where it cannot be caught.
 *
 * @param entry The file that would be loaded.
 */
export function describeNodeNeeds(name: string, entry: string): string | undefined {
  const manifest = findOwn(name, dirname(entry))
  const places = nodeModule.createRequire(entry).resolve.paths(name) ?? []
  const dependencies = Object.keys(manifest?.dependencies ?? {}).map((each) => {
    const found = places.map((place) => readManifest(join(place, each))).find(Boolean)
    return { ...found, name: each }
  })
  const needing = [{ ...manifest, name }, ...dependencies].find(
    ({ engines }) => typeof engines?.node === 'string' && isTooNew(engines.node),
  )
  return needing && `${needing.name} needs Node ${needing.engines?.node}`
}

function findOwn(name: string, folder: string): Manifest | undefined {
  const manifest = readManifest(folder)
  if (manifest?.name === name) return manifest
  return dirname(folder) === folder ? undefined : findOwn(name, dirname(folder))
}

function readManifest(folder: string): Manifest | undefined {
  try {
    return Object(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))) as Manifest
  } catch {
    return undefined
  }
}

/** Looks only at ranges of the form `>=22.19.0`: what else they may be is for the package manager to say. */
function isTooNew(range: string): boolean {
  const [, ...wanted] = /^>=\s*(\d+)(?:\.(\d+))?(?:\.(\d+))?$/.exec(range.trim()) ?? []
  const here = process.versions.node.split('.').map(Number)
  const differing = wanted.findIndex((part, at) => Number(part ?? 0) !== here[at])
  return differing !== -1 && Number(wanted[differing] ?? 0) > (here[differing] ?? 0)
}
