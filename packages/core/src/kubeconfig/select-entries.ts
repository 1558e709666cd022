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

/** The selected entries of a connection, as written in their files. */
export interface Selection {
  readonly context: ContextEntry | undefined
  readonly cluster: ClusterEntry
  readonly user: UserEntry
  readonly warnings: readonly string[]
  readonly origin: string
}

/**
 * Selects context, cluster and user: an option takes precedence over the context.
 *
 * A name without an entry is an error. (In client-go, a missing user is anonymous, and a missing cluster counts as no
 * configuration.) It is only a warning if options replace the whole entry.
 *
 * @throws {ContextNotFoundError} `ERR_CONTEXT_NOT_FOUND`
 * @throws {ClusterNotFoundError} `ERR_CLUSTER_NOT_FOUND`
 * @throws {UserNotFoundError} `ERR_USER_NOT_FOUND`
 * @throws {KubeconfigEmptyError} `ERR_KUBECONFIG_EMPTY` if neither a context nor an option selects a cluster.
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
    hint: `Correct current-context in ${files}, or pass option context${listed(known)}.`,
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
  if (overrides.user || !hasCredentialOption(overrides)) throw new UserNotFoundError(what, known)
  warnings.push(`The ${what}; the credentials from options are used.`)
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
  warnings.push(`The ${what}; option server is used.`)
  return NO_CLUSTER
}

function noCluster(config: Kubeconfig, context: ContextEntry | undefined, looked: string): Error {
  if (context !== undefined) {
    throwProblems([
      {
        what: `${describeEntry('context', context)} has no cluster`,
        remedy: 'Add a cluster to the context, or pass option cluster or option server.',
      },
    ])
  }
  const contexts = [...config.contexts.keys()]
  if (contexts.length === 0) return new KubeconfigEmptyError(looked)
  return new KubeconfigEmptyError(`current-context is not set in ${describeFiles(config)}`, {
    hint: `Pass option context, or run kubectl config use-context NAME${listed(contexts)}.`,
  })
}

function missing(kind: string, name: string, by: ContextEntry | string | undefined): string {
  const where = typeof by === 'object' ? describeEntry('context', by) : by
  const named = where === undefined ? '' : `, named by ${where},`
  return `${kind} ${quoteName(name)}${named} does not exist`
}

function hasCredentialOption(overrides: Overrides): boolean {
  return Boolean(overrides.token || overrides.username || overrides.clientCertificate)
}

const MAX_SHOWN_NAMES = 8

function listed(names: readonly string[]): string {
  if (names.length === 0) return ''
  const more = names.length > MAX_SHOWN_NAMES ? ', …' : ''
  return ` (available: ${names.slice(0, MAX_SHOWN_NAMES).map(quoteName).join(', ')}${more})`
}

function describeFiles(config: Kubeconfig): string {
  if (config.inline !== undefined) return GIVEN_KUBECONFIG
  if (config.files.length === 0) return 'there is no kubeconfig file'
  return config.files.map(quoteName).join(', ')
}

/** The maximum length of a DNS-1123 label. */
const MAX_LABEL_LENGTH = 63

/** The sources of the namespace, in order of precedence; `default` if none is set. */
export interface NamespaceChoices {
  readonly option: string | undefined
  readonly context: Selection['context']
  /** The namespace of the pod that this process runs in. */
  readonly pod: string | undefined
}

/** Returns the namespace, and a problem if its name is invalid. */
export function chooseNamespace({ option, context, pod }: NamespaceChoices): {
  readonly namespace: string
  readonly problems: readonly Problem[]
} {
  const given = stripNamespacePrefix(option ?? '')
  if (given) {
    const { namespace, problems } = validated(given, 'option namespace')
    return { namespace, problems: problems.map((problem) => ({ ...problem, isOption: true })) }
  }
  if (context?.namespace) {
    return validated(context.namespace, `the namespace of ${describeEntry('context', context)}`)
  }
  if (pod) return validated(pod, 'the namespace of the pod (POD_NAMESPACE or the mounted file)')
  return { namespace: 'default', problems: [] }
}

/** Removes the prefix `ns/`, `namespace/` or `namespaces/`, which kubectl accepts. */
export function stripNamespacePrefix(namespace: string): string {
  return namespace.replace(/^(?:ns|namespaces?)\//i, '')
}

function validated(namespace: string, where: string) {
  if (namespace.length <= MAX_LABEL_LENGTH && /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(namespace)) {
    return { namespace, problems: [] }
  }
  const problem: Problem = {
    what: `${where} is not a DNS-1123 label`,
    remedy:
      'Use at most 63 lower-case letters, digits and dashes, without a dash at the start or end.',
  }
  return { namespace, problems: [problem] }
}
