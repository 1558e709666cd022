import {
  PluginDeniedError,
  PluginNotExecutableError,
  PluginNotFoundError,
  type PluginRunFacts,
} from '../errors/index.ts'
import { judgePlugin, type PluginPolicy } from '../plugin/plugin-policy.ts'
import type { Located, Programs } from '../ports/programs.ts'
import { showControlCharacters } from '../secret/scrub.ts'
import type { AcquireContext } from './source.ts'

/** A program that the kubeconfig names, and what decides whether it may run. */
interface NamedProgram {
  readonly command: string
  readonly policy: PluginPolicy
  /** What it is for; a credential plugin unless told. */
  readonly role?: PluginRunFacts['role']
  /** What to do when it is not there. */
  readonly installHint?: string | undefined
  /** Refuses executables that others could replace, instead of warning. */
  readonly refuseWritable?: boolean
}

type Found = Extract<Located, { is: 'found' }>

/**
 * Finds the executable and asks the policy. What runs is the path that was checked here.
 *
 * @throws {PluginNotFoundError | PluginNotExecutableError | PluginDeniedError}
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
  // Nothing on the machine can change this verdict, so nothing is looked up for it.
  if (policy.type === 'DenyAll') {
    deny(`the policy in ${JSON.stringify(policy.origin)} is DenyAll`)
  }
  const allow = (): void => report({ type: 'policy', verdict: 'allowed', command })
  const located = await programs.locate(command)
  // This verdict does not depend on what is there either; client-go counts it before it looks.
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

/** Says why a program that was found may not run, or undefined if it may. */
export function programDenialReason(
  policy: PluginPolicy,
  command: string,
  found: Found,
  programs: Programs,
): Promise<string | undefined> {
  return judgePlugin(policy, command, found, {
    find: async (name) => {
      const other = await programs.locate(name)
      return other.is === 'found' ? other : undefined
    },
    // What cannot be read has not the digest it was pinned to.
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
