import {
  ClusterNotFoundError,
  ContextNotFoundError,
  KubeconfigEmptyError,
  UserNotFoundError,
} from '../errors/index.ts'
import { GIVEN_KUBECONFIG } from './inline-kubeconfig.ts'
import {
  type ClusterEntry,
  type ContextEntry,
  type Kubeconfig,
  NO_CLUSTER,
  NO_USER,
  type UserEntry,
} from './kubeconfig.ts'
import type { Overrides } from './overrides.ts'
import { describeEntry, type Problem, quoteName, throwProblems } from './problem.ts'

/** The entries one connection is made of, as they stand in their files. */
export interface Selection {
  readonly context: ContextEntry | undefined
  readonly cluster: ClusterEntry
  readonly user: UserEntry
  readonly warnings: readonly string[]
  readonly origin: string
}

/**
 * Chooses context, cluster and user: a flag comes first, then what the context says.
 *
 * A name that leads nowhere is an error. (client-go makes a missing user of a context anonymous, and takes a
 * missing cluster for "no configuration".) Only when flags give all that the entry would have given is it a warning.
 *
 * @throws {ContextNotFoundError}
 * @throws {ClusterNotFoundError}
 * @throws {UserNotFoundError}
 * @throws {KubeconfigEmptyError} When neither a context nor flags say which cluster.
 */
export function selectEntries(
  config: Kubeconfig,
  overrides: Overrides,
  looked = describeFiles(config),
): Selection {
  const context = selectContext(config, overrides)
  const warnings: string[] = []
  const user = selectUser(config, overrides, context, warnings)
  const cluster = selectCluster(config, overrides, context, warnings, looked)
  const files = config.files.length === 0 ? 'flags' : config.files.join(', ')
  const origin = config.inline === undefined ? files : GIVEN_KUBECONFIG
  return { context, cluster, user, warnings, origin }
}

function selectContext(config: Kubeconfig, overrides: Overrides): ContextEntry | undefined {
  const name = overrides.context || config.currentContext
  if (name === undefined) return undefined
  const context = config.contexts.get(name)
  if (context !== undefined) return context
  const known = [...config.contexts.keys()]
  if (overrides.context) throw new ContextNotFoundError(name, known, { namedBy: 'option context' })
  const files =
    config.inline === undefined ? config.files.map(quoteName).join(', ') : GIVEN_KUBECONFIG
  throw new ContextNotFoundError(name, known, {
    hint: `Correct current-context in ${files}, or pass --context${listed(known)}.`,
  })
}

function selectUser(
  config: Kubeconfig,
  overrides: Overrides,
  context: ContextEntry | undefined,
  warnings: string[],
): UserEntry {
  const name = overrides.user || context?.user
  const user = config.users.get(name ?? '')
  if (user !== undefined) return user
  if (name === undefined) return NO_USER
  const known = [...config.users.keys()]
  const what = missing('user', name, overrides.user ? 'option user' : context)
  if (overrides.user || !hasCredentialFlag(overrides)) throw new UserNotFoundError(what, known)
  warnings.push(`The ${what}; the credentials given by flags are used.`)
  return NO_USER
}

function selectCluster(
  config: Kubeconfig,
  overrides: Overrides,
  context: ContextEntry | undefined,
  warnings: string[],
  looked: string,
): ClusterEntry {
  const name = overrides.cluster || context?.cluster
  const cluster = config.clusters.get(name ?? '')
  if (cluster !== undefined) return cluster
  if (name === undefined && overrides.server) return NO_CLUSTER
  if (name === undefined) throw noCluster(config, context, looked)
  const what = missing('cluster', name, overrides.cluster ? 'option cluster' : context)
  const known = [...config.clusters.keys()]
  if (overrides.cluster || !overrides.server) throw new ClusterNotFoundError(what, known)
  warnings.push(`The ${what}; the server given by a flag is used.`)
  return NO_CLUSTER
}

function noCluster(config: Kubeconfig, context: ContextEntry | undefined, looked: string): Error {
  if (context !== undefined) {
    throwProblems([
      {
        what: `${describeEntry('context', context)} names no cluster`,
        remedy: 'Add a cluster to the context, or pass --cluster or --server.',
      },
    ])
  }
  const contexts = [...config.contexts.keys()]
  if (contexts.length === 0) return new KubeconfigEmptyError(looked)
  return new KubeconfigEmptyError(`no context is chosen in ${describeFiles(config)}`, {
    hint: `Pass --context, or run kubectl config use-context NAME${listed(contexts)}.`,
  })
}

function missing(kind: string, name: string, by: ContextEntry | string | undefined): string {
  const where = typeof by === 'object' ? describeEntry('context', by) : by
  const named = where === undefined ? '' : `, named by ${where},`
  return `${kind} ${quoteName(name)}${named} does not exist`
}

function hasCredentialFlag(overrides: Overrides): boolean {
  return Boolean(overrides.token || overrides.username || overrides.clientCertificate)
}

const SHOWN_NAMES = 8

function listed(names: readonly string[]): string {
  if (names.length === 0) return ''
  const more = names.length > SHOWN_NAMES ? ', …' : ''
  return ` (known: ${names.slice(0, SHOWN_NAMES).map(quoteName).join(', ')}${more})`
}

function describeFiles(config: Kubeconfig): string {
  if (config.inline !== undefined) return GIVEN_KUBECONFIG
  if (config.files.length === 0) return 'there is no kubeconfig file'
  return config.files.map(quoteName).join(', ')
}

const LONGEST_LABEL = 63

/** Where a namespace may come from, first wins; `default` is the last resort. */
export interface NamespaceChoices {
  readonly flag: string | undefined
  readonly context: Selection['context']
  /** The namespace of the pod we run in. */
  readonly pod: string | undefined
}

/** Chooses the namespace, and says so if it cannot be one. */
export function chooseNamespace({ flag, context, pod }: NamespaceChoices): {
  readonly namespace: string
  readonly problems: readonly Problem[]
} {
  const flagged = stripNamespacePrefix(flag ?? '')
  if (flagged) {
    const { namespace, problems } = checked(flagged, 'option namespace')
    return { namespace, problems: problems.map((each) => ({ ...each, isOption: true })) }
  }
  if (context?.namespace) {
    return checked(context.namespace, `the namespace of ${describeEntry('context', context)}`)
  }
  if (pod) return checked(pod, 'the namespace of the pod (POD_NAMESPACE or the mounted file)')
  return { namespace: 'default', problems: [] }
}

/** Removes `ns/`, `namespace/` or `namespaces/`, which kubectl accepts before the name. */
export function stripNamespacePrefix(namespace: string): string {
  return namespace.replace(/^(?:ns|namespaces?)\//i, '')
}

function checked(namespace: string, where: string) {
  if (namespace.length <= LONGEST_LABEL && /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(namespace)) {
    return { namespace, problems: [] }
  }
  const problem: Problem = {
    what: `${where} is not a DNS-1123 label`,
    remedy: 'Use at most 63 lower case letters, digits and dashes, with no dash at either end.',
  }
  return { namespace, problems: [problem] }
}
