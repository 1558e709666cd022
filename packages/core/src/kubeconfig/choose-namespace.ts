import type { Problem } from './problem.ts'
import { describeEntry } from './quote-name.ts'
import type { Selection } from './select-entries.ts'

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
