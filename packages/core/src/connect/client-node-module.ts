import { realpathSync } from 'node:fs'
// Not `{ createRequire }`: webpack replaces it, and a bundle may declare the name once more (docs/bundling.md).
import nodeModule from 'node:module'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { LoginToolError } from '../errors/index.ts'
import { scrub, showControlCharacters } from '../secret/scrub.ts'
import type { ReadableKubeConfig } from './kube-config/readable-kube-config.ts'
import { describeNodeNeeds } from './node-needs.ts'

/** The package, as npm has it. */
export const CLIENT_NODE = '@kubernetes/client-node'

interface ClientNodeModule {
  readonly KubeConfig: new () => ReadableKubeConfig & { loadFromDefault(): void }
}

/**
 * Finds the program's own copy of client-node: the one that its main script would import.
 *
 * Not the one that our package would find, which is another with pnpm, and none at all mostly. Not in the current
 * folder either, or whoever owns that folder could choose what a program runs; only where there is no main script
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
 * @throws {LoginToolError} When it cannot be loaded, or cannot read what it finds.
 */
export async function loadDefaultKubeConfig(): Promise<ReadableKubeConfig | undefined> {
  const module = await loadClientNode()
  if (module === undefined) return undefined
  const kc = new module.KubeConfig()
  try {
    kc.loadFromDefault()
  } catch (error) {
    // Not as the cause: the parser of client-node quotes the lines around a mistake.
    throw new LoginToolError(CLIENT_NODE, `cannot read the kubeconfig: ${describeMistake(error)}`, {
      hint: 'Correct the kubeconfig, or use loginWithKubeconfig, which reads what kubectl reads.',
    })
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

function unusable(path: string, reason: string, cause?: unknown): LoginToolError {
  return new LoginToolError(
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
