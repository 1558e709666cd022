/** Which requests a proxy allows. As in Go, an expression matches anywhere in the text: anchor it if needed. */
export interface ProxyRules {
  /** The path must match at least one of them. */
  readonly acceptPaths: readonly RegExp[]
  /** The path must match none of them. */
  readonly rejectPaths: readonly RegExp[]
  /** The method must match none of them. */
  readonly rejectMethods: readonly RegExp[]
  /** Allows only GET, HEAD and OPTIONS, and no path that forwards to a pod, a service or a node. By default false. */
  readonly readOnly?: boolean
  /**
   * User names of the callers that are allowed, with `authenticate`: exact, or all service accounts of a namespace as
   * `system:serviceaccount:NAMESPACE:*`. By default all: then every caller uses the rights of the proxy's credential,
   * unless callers are impersonated.
   */
  readonly acceptCallers?: readonly string[] | undefined
  /** Allows `Impersonate-*` headers. By default, a request with such a header is rejected. */
  readonly allowImpersonation?: boolean
}

/** The rules of `kubectl proxy`: everything except `exec` and `attach`. */
export const DEFAULT_RULES: ProxyRules = {
  acceptPaths: [/^.*/s],
  // With the flag `s`, so that a dot matches every character.
  rejectPaths: [/^\/api\/.*\/pods\/.*\/exec/s, /^\/api\/.*\/pods\/.*\/attach/s],
  rejectMethods: [/^$/],
}

/** Returns whether the rules allow a caller. */
export function isAcceptedCaller({ acceptCallers }: ProxyRules, user: string): boolean {
  if (acceptCallers === undefined) return true
  return acceptCallers.some((accepted) => {
    if (!WHOLE_NAMESPACE.test(accepted)) return user === accepted
    const prefix = accepted.slice(0, -1)
    return user.startsWith(prefix) && !user.slice(prefix.length).includes(':')
  })
}

const WHOLE_NAMESPACE = /^system:serviceaccount:[^:*]+:\*$/

/** A request, as far as rules depend on it. */
interface RuleInput {
  readonly method: string
  /** Decoded, as the server interprets it. */
  readonly path: string
  readonly isUpgrade: boolean
}

/** Returns why the rules reject a request; undefined if they allow it. */
export function violatedRule(rules: ProxyRules, request: RuleInput): string | undefined {
  const { method, path } = request
  if (rules.rejectPaths.some((rule) => matches(rule, path))) return 'the path is rejected'
  if (rules.rejectMethods.some((rule) => matches(rule, method))) return 'the method is rejected'
  if (!rules.acceptPaths.some((rule) => matches(rule, path))) return 'the path is not accepted'
  return rules.readOnly ? readOnlyViolation(request) : undefined
}

/** The three methods that change nothing on a Kubernetes server. */
const READ_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Subresources that forward to something behind the API server, where a GET may do anything, and their old form
 * `/api/v1/proxy/…`. Matches every resource, because other API groups have such subresources too. Not anchored at
 * the start, because some servers serve clusters below a path.
 */
const FORWARDING_SUBRESOURCE =
  /\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+)\/(?:proxy\/|(?:namespaces\/[^/]+\/)?[^/]+\/[^/]+\/(?:exec|attach|portforward|proxy)(?:\/|$))/

function readOnlyViolation({ method, path, isUpgrade }: RuleInput): string | undefined {
  if (!READ_METHODS.has(method)) return `${method} is not a read-only method`
  if (isUpgrade) return 'an upgraded protocol could write'
  return FORWARDING_SUBRESOURCE.test(path)
    ? 'the path forwards to a pod, a service or a node'
    : undefined
}

/** Matches independently of earlier requests: an expression with `g` or `y` keeps its position. */
function matches(rule: RegExp, text: string): boolean {
  if (rule.global || rule.sticky) rule.lastIndex = 0
  return rule.test(text)
}
