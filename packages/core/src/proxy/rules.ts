/** What may pass. Expressions are looked for anywhere in the text, as Go's are: anchor them where it matters. */
export interface ProxyRules {
  /** A path must match one of them. */
  readonly acceptPaths: readonly RegExp[]
  /** A path must match none of them. */
  readonly rejectPaths: readonly RegExp[]
  /** A method must match none of them. */
  readonly rejectMethods: readonly RegExp[]
  /** Lets only GET, HEAD and OPTIONS pass, and nothing that leads into a pod, a service or a node. */
  readonly readOnly?: boolean
  /** Lets `Impersonate-*` headers pass; without it, a request that has some is refused. */
  readonly allowImpersonation?: boolean
}

/** The rules of `kubectl proxy`: everything but `exec` and `attach`. */
export const DEFAULT_RULES: ProxyRules = {
  acceptPaths: [/^.*/s],
  // With `s`: without it, a dot does not stand for every character.
  rejectPaths: [/^\/api\/.*\/pods\/.*\/exec/s, /^\/api\/.*\/pods\/.*\/attach/s],
  rejectMethods: [/^$/],
}

/** One request, as the rules see it. */
interface Asked {
  readonly method: string
  /** Decoded, because that is how the server understands it. */
  readonly path: string
  readonly isUpgrade: boolean
}

/** Why the rules do not let a request pass; undefined when they do. */
export function brokenRule(rules: ProxyRules, asked: Asked): string | undefined {
  const { method, path } = asked
  if (rules.rejectPaths.some((rule) => matches(rule, path))) return 'the path is rejected'
  if (rules.rejectMethods.some((rule) => matches(rule, method))) return 'the method is rejected'
  if (!rules.acceptPaths.some((rule) => matches(rule, path))) return 'the path is not accepted'
  return rules.readOnly ? notReading(asked) : undefined
}

/** The three methods that change nothing on a Kubernetes server. */
const READS = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Subresources that lead to something else than the API server, where a GET may do anything, and the old
 * spelling of them. Of every resource, because other API groups have their own; not anchored at the beginning,
 * because some servers have clusters below a path.
 */
const LEADS_FURTHER =
  /\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+)\/(?:proxy\/|(?:namespaces\/[^/]+\/)?[^/]+\/[^/]+\/(?:exec|attach|portforward|proxy)(?:\/|$))/

function notReading({ method, path, isUpgrade }: Asked): string | undefined {
  if (!READS.has(method)) return `${method} is no reading`
  if (isUpgrade) return 'another protocol could write'
  return LEADS_FURTHER.test(path) ? 'the path leads into a pod, a service or a node' : undefined
}

/** An expression with `g` or `y` remembers where it was; that must not decide about the next request. */
function matches(rule: RegExp, text: string): boolean {
  if (rule.global || rule.sticky) rule.lastIndex = 0
  return rule.test(text)
}
