import { timingSafeEqual } from 'node:crypto'
import { isCredentialError } from '../errors/index.ts'
import type { Secret } from '../secret/secret.ts'
import { responseForError, type StatusResponse } from './reject-request.ts'

/** Who sent a request, as the API server knows them. */
export interface Caller {
  /** The user name, such as `system:serviceaccount:shop:web`. */
  readonly user: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/**
 * Finds out who a bearer token belongs to; undefined refuses the request.
 *
 * An error refuses it too: a `CredentialError` with its message, any other error as an internal error.
 */
export type Authenticate = (token: string) => Caller | undefined | Promise<Caller | undefined>

/** A caller that may send requests; `caller` is undefined if all callers share a secret. */
interface KnownCaller {
  readonly caller: Caller | undefined
}

/** The result of an authentication: who the caller is, or the response that rejects the request. */
export type Identified = KnownCaller | StatusResponse

/** Checks the `Authorization` header of a request. */
export type Authentication = (authorization: string | undefined) => Identified | Promise<Identified>

/** Admits every caller: for a unix socket, which only its owner can reach. */
export const admitEveryone: Authentication = () => ANYONE

const ANYONE: KnownCaller = { caller: undefined }

/**
 * Admits callers that send one of the secrets as `Authorization: Bearer …`.
 *
 * The comparison takes constant time. The length may leak: all generated secrets have the same.
 *
 * @param secrets Returns the secrets that are valid now.
 */
export function admitBySecret(secrets: () => readonly Secret[]): Authentication {
  return (authorization) => {
    const given = Buffer.from(bearerOf(authorization) ?? '', 'latin1')
    let isKnown = false
    for (const secret of secrets()) {
      const expected = Buffer.from(secret.expose(), 'latin1')
      const hasLength = given.length === expected.length
      if (timingSafeEqual(hasLength ? given : expected, expected) && hasLength) isKnown = true
    }
    return isKnown ? ANYONE : NO_SECRET
  }
}

/** Admits callers that `authenticate` knows by their own token. */
export function admitByToken(authenticate: Authenticate): Authentication {
  const decide = (caller: Caller | undefined): Identified =>
    caller === undefined ? UNKNOWN_CALLER : { caller }
  const fail = (error: unknown): Identified => {
    if (isCredentialError(error)) return responseForError(error)
    throw error
  }
  return (authorization) => {
    const token = bearerOf(authorization)
    if (token === undefined) return UNKNOWN_CALLER
    try {
      const caller = authenticate(token)
      return caller instanceof Promise ? caller.then(decide, fail) : decide(caller)
    } catch (error) {
      return fail(error)
    }
  }
}

function bearerOf(authorization = ''): string | undefined {
  const token = BEARER.test(authorization) ? authorization.slice(7) : ''
  return token === '' ? undefined : token
}

const BEARER = /^bearer /i

const NO_SECRET: StatusResponse = {
  status: 401,
  why: 'the secret',
  message: 'the secret of this proxy is missing or wrong. Send it as "Authorization: Bearer …".',
}

const UNKNOWN_CALLER: StatusResponse = {
  status: 401,
  why: 'the token',
  message:
    'the token of the caller is missing, or the cluster does not accept it for this proxy. Send your own token as "Authorization: Bearer …".',
}
