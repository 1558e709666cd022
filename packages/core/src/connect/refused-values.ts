/** What tells one credential from another in what a caller used. */
export interface RefusedValues {
  readonly authorization: unknown
  readonly cert: unknown
}

/**
 * Finds the credential in what a caller says it used: our values, a copy in the form its client wants, or the
 * options of a whole request.
 *
 * @throws {TypeError} When it is nothing that could hold one.
 */
export function readRefused(given: unknown): RefusedValues {
  if (typeof given !== 'object' || given === null) throw notUsable()
  const { cert, headers } = given as { cert?: unknown; headers?: unknown }
  return { authorization: findAuthorization(given) ?? findAuthorization(headers), cert }
}

/** Says what to pass, and nothing of what was passed: that may be a secret. */
export function notUsable(): TypeError {
  return new TypeError(
    'reportRefused() takes what cluster.headers() or cluster.tlsOptions() gave, or a copy of it that still has the authorization or the cert',
  )
}

function findAuthorization(headers: unknown): unknown {
  if (typeof headers !== 'object' || headers === null) return undefined
  for (const [name, value] of pairsOf(headers)) {
    if (String(name).toLowerCase() === 'authorization') return [value].flat()[0]
  }
  return undefined
}

/** Of a list of pairs, a `Headers` or a plain object. */
function pairsOf(headers: object): [unknown, unknown][] {
  if (!(Symbol.iterator in headers)) return Object.entries(headers)
  return [...(headers as Iterable<unknown>)].filter(
    (each): each is [unknown, unknown] => Array.isArray(each) && each.length === 2,
  )
}
