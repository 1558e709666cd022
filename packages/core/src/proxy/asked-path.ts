import { splitPath } from '../request/request-target.ts'

/** Where a request goes, in the two spellings that matter. */
export interface AskedPath {
  /** As it was written: this is sent. */
  readonly written: string
  /** Decoded once, as the server will: the rules see this. */
  readonly decoded: string
  /** With its question mark; empty without a query. */
  readonly search: string
}

/** Nothing in it that anybody could read in two ways. Most paths are like this. */
const PLAIN = /^(?:\/[\w~:-][\w.~:-]*)+\/?$/

/**
 * Reads what a request asks for.
 *
 * What two programs could understand differently is refused, because the rules would judge one meaning and
 * the server follow the other. Kubernetes has no names that need any of it.
 *
 * @returns Why it is refused, or the path.
 */
export function readAskedPath(target: string): AskedPath | string {
  if (!target.startsWith('/')) return 'it is not a path'
  const { pathname: written, search } = splitPath(target)
  if (NOT_IN_TARGET.test(target)) return 'it has a character that must be written with %'
  if (PLAIN.test(written) || written === '/') return { written, decoded: written, search }
  if (written.includes('\\')) return 'it has a backslash'
  if (AMBIGUOUS.test(written))
    return 'it has an encoded slash, backslash, percent or control character'
  const decoded = decode(written)
  if (decoded === undefined) return 'it has an encoding that is none'
  if (LINE_SEPARATOR.test(decoded)) return 'it has an encoded line separator or control character'
  const problem = oddSegment(decoded)
  return problem ?? { written, decoded, search }
}

/** Only what can be printed; no fragment, which never goes over the wire. */
const NOT_IN_TARGET = /[^!-~]|#/

const AMBIGUOUS = /%(?:2f|5c|25|[01][0-9a-f]|7f)/i

/** A dot in a rule does not match them, so that a rule would see less than the server. */
const LINE_SEPARATOR = /[\u0080-\u009f\u2028\u2029]/

function decode(written: string): string | undefined {
  try {
    return decodeURIComponent(written)
  } catch {
    return undefined
  }
}

function oddSegment(decoded: string): string | undefined {
  if (decoded.includes('//')) return 'it has an empty segment'
  // Some servers take what follows a semicolon for no part of the name.
  return /\/\.\.?(?:;|\/|$)/.test(decoded) ? 'it has a dot segment' : undefined
}
