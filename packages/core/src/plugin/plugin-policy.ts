import { PolicyInvalidError } from '../errors/index.ts'

/** A program that an allowlist allows. */
export interface AllowlistEntry {
  /** A bare name, found through PATH, or a full path, in its shortest form. */
  readonly command: string
  /** The hex digest of the file. Does not protect against someone who can write to the file while it is used. */
  readonly sha256?: string
}

/** Which plugins may run. */
export type PluginPolicy =
  | { readonly type: 'AllowAll' }
  | { readonly type: 'DenyAll'; readonly origin: string }
  | {
      readonly type: 'Allowlist'
      readonly allowlist: readonly AllowlistEntry[]
      readonly origin: string
    }

/** The policy that allows every plugin: the default, as in kubectl. */
export const ALLOW_ALL: PluginPolicy = { type: 'AllowAll' }

/** An executable on this machine. */
export interface FoundExecutable {
  /** Where the command was found. */
  readonly path: string
  /** The same path with all symbolic links resolved. */
  readonly realPath: string
}

interface Lookup {
  find(command: string): Promise<FoundExecutable | undefined>
  sha256(path: string): Promise<string>
}

/** A policy as written in the file. `undefined` and an empty list mean different things. */
interface RawPluginPolicy {
  readonly type: string | undefined
  readonly allowlist: readonly AllowlistEntry[] | undefined
}

/**
 * Validates a policy by the rules of client-go.
 *
 * @param origin The file it came from, for messages.
 * @throws {PolicyInvalidError} `ERR_POLICY_INVALID` if it is unknown, or if its type and its allowlist contradict.
 */
export function checkPluginPolicy(
  { type = '', allowlist }: RawPluginPolicy,
  origin: string,
): PluginPolicy {
  const fail = (reason: string, hint: string): never => reject(origin, reason, hint)
  if (type === '' || type === 'AllowAll' || type === 'DenyAll') {
    if (allowlist !== undefined) {
      fail(
        `an allowlist does nothing under policy "${type}"`,
        'Use policy Allowlist, or remove the allowlist.',
      )
    }
    return type === 'DenyAll' ? { type, origin } : ALLOW_ALL
  }
  if (type !== 'Allowlist') {
    fail(`unknown policy ${JSON.stringify(type)}`, 'Use AllowAll, DenyAll or Allowlist.')
  }
  if (allowlist === undefined || allowlist.length === 0) {
    return fail(
      `the allowlist is ${allowlist === undefined ? 'unspecified' : 'empty'}`,
      'Add credentialPluginAllowlist, or use policy DenyAll.',
    )
  }
  for (const [index, { command }] of allowlist.entries()) checkEntry(command, index + 1, origin)
  return { type: 'Allowlist', allowlist, origin }
}

function checkEntry(command: string, position: number, origin: string): void {
  if (command === '') reject(origin, `allowlist entry ${position} is empty`, 'Give it a command.')
  const shortest = cleanPath(command)
  if (command === shortest) return
  reject(
    origin,
    `allowlist entry ${position} is not in its shortest form: ${JSON.stringify(command)}`,
    `Write it as ${JSON.stringify(shortest)}.`,
  )
}

function reject(origin: string, reason: string, hint: string): never {
  throw new PolicyInvalidError(`plugin policy in ${JSON.stringify(origin)}: ${reason}`, { hint })
}

/**
 * Returns why a policy does not allow a plugin, or undefined if it does.
 *
 * An entry matches as in client-go: by the configured command, by the path it was found at, or by the path at which the
 * entry itself is found. In addition the real paths must be equal, which can only narrow the match.
 */
export async function pluginDenialReason(
  policy: PluginPolicy,
  command: string,
  found: FoundExecutable,
  lookup: Lookup,
): Promise<string | undefined> {
  if (policy.type === 'AllowAll') return undefined
  if (policy.type === 'DenyAll') return `the policy in ${JSON.stringify(policy.origin)} is DenyAll`
  for (const entry of policy.allowlist) {
    if (await matches(entry, command, found, lookup)) return undefined
  }
  return `${JSON.stringify(found.path)} is not in the allowlist of ${JSON.stringify(policy.origin)}`
}

async function matches(
  entry: AllowlistEntry,
  command: string,
  found: FoundExecutable,
  lookup: Lookup,
): Promise<boolean> {
  const named = entry.command === cleanPath(command) || entry.command === found.path
  if (!named && baseName(entry.command) !== baseName(found.path)) return false
  const allowed = await lookup.find(entry.command)
  if (allowed?.realPath !== found.realPath) return false
  if (!named && allowed.path !== found.path) return false
  return (
    entry.sha256 === undefined ||
    entry.sha256.toLowerCase() === (await lookup.sha256(found.realPath))
  )
}

/** Returns the shortest lexical form of a path, as Go's `filepath.Clean` does. */
export function cleanPath(path: string): string {
  const rooted = path.startsWith('/')
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop()
    else if (part !== '..' || !rooted) parts.push(part)
  }
  return (rooted ? '/' : '') + parts.join('/') || '.'
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
