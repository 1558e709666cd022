import {
  PluginDeniedError,
  PluginNotExecutableError,
  PluginNotFoundError,
  type PluginRunFacts,
} from '../errors/index.ts'
import { type PluginPolicy, pluginDenialReason } from '../plugin/plugin-policy.ts'
import type { Located, Programs } from '../ports/programs.ts'
import { showControlCharacters } from '../secret/scrub.ts'
import type { AcquireContext } from './source.ts'

/** A program named in the kubeconfig, and the policy that decides whether it may run. */
interface NamedProgram {
  readonly command: string
  readonly policy: PluginPolicy
  /** What it is used as; a credential plugin by default. */
  readonly role?: PluginRunFacts['role']
  /** The hint of the error if it is not found. */
  readonly installHint?: string | undefined
  /** Rejects executables that other users could replace, instead of warning. */
  readonly refuseWritable?: boolean
}

type Found = Extract<Located, { is: 'found' }>

/**
 * Finds the executable of a command and checks it against the plugin policy. The path returned is the one to run.
 *
 * @throws {PluginNotFoundError} `ERR_PLUGIN_NOT_FOUND`
 * @throws {PluginNotExecutableError} `ERR_PLUGIN_NOT_EXECUTABLE`
 * @throws {PluginDeniedError} `ERR_PLUGIN_DENIED`
 */
export async function findAllowedProgram(
  { command, policy, role, installHint, refuseWritable }: NamedProgram,
  { programs }: { readonly programs: Programs },
  report: AcquireContext['report'],
): Promise<Found> {
  const deny = (reason: string): never => {
    report({ type: 'policy', verdict: 'denied', command })
    throw new PluginDeniedError(command, `may not run: ${reason}`, { role })
  }
  // DenyAll does not depend on the executable, so nothing is looked up.
  if (policy.type === 'DenyAll') {
    deny(`the policy in ${JSON.stringify(policy.origin)} is DenyAll`)
  }
  const allow = (): void => report({ type: 'policy', verdict: 'allowed', command })
  const located = await programs.locate(command)
  // AllowAll does not depend on the executable either; client-go counts it before the lookup.
  if (located.is !== 'found' && policy.type === 'AllowAll') allow()
  if (located.is === 'missing') throw notFound(command, located.lookedIn, { role, installHint })
  if (located.is === 'unusable') {
    const path = showControlCharacters(located.path)
    throw new PluginNotExecutableError(command, `cannot run: ${located.reason} (${path})`, { role })
  }
  const verdict = await programDenialReason(policy, command, located, programs)
  if (verdict !== undefined) deny(verdict)
  if (located.writableByOthers !== undefined) {
    if (refuseWritable === true) deny(located.writableByOthers)
    report({ type: 'warning', message: located.writableByOthers })
  }
  allow()
  return located
}

/** Returns why the policy does not allow a program, or undefined if it does. */
export function programDenialReason(
  policy: PluginPolicy,
  command: string,
  found: Found,
  programs: Programs,
): Promise<string | undefined> {
  return pluginDenialReason(policy, command, found, {
    find: async (name) => {
      const other = await programs.locate(name)
      return other.is === 'found' ? other : undefined
    },
    // A file that cannot be read never matches its pinned digest.
    sha256: (path) => programs.sha256(path).catch(() => ''),
  })
}

function notFound(
  command: string,
  lookedIn: readonly string[],
  { role, installHint }: Pick<NamedProgram, 'role' | 'installHint'>,
): PluginNotFoundError {
  const folders = lookedIn.map(showControlCharacters).join(', ')
  const places = lookedIn.length === 0 ? 'PATH is empty' : `looked in ${folders}`
  return new PluginNotFoundError(command, `was not found (${places})`, {
    role,
    hint:
      installHint ?? 'Install the plugin, or give its full path in exec.command of the kubeconfig.',
  })
}
