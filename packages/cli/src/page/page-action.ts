import type { ServerResponse } from 'node:http'
import { isCredentialError } from 'kubecred'
import type { LiveState } from './live-state.ts'
import { sendError, sendJson } from './page-response.ts'
import { shorten } from './timeline-event.ts'

/** The action of a button on the page. */
export interface PageAction {
  readonly id: string
  readonly verb: 'renew' | 'forget'
}

/** Parses the path of an action. Returns undefined if it is not one. */
export function readAction(path: string): PageAction | undefined {
  const [, name, verb] = /^\/identities\/([^/]+)\/(renew|forget)$/.exec(path) ?? []
  if (name === undefined || (verb !== 'renew' && verb !== 'forget')) return undefined
  try {
    return { id: decodeURIComponent(name), verb }
  } catch {
    return undefined
  }
}

/**
 * Performs an action and responds with its outcome. If a plugin fails, the request has still succeeded: the response
 * is 200 with the error in its body.
 */
export async function performAction(
  { id, verb }: PageAction,
  state: LiveState,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const identity = state.find(id)
  if (identity === undefined) {
    sendError(response, 404, 'there is no such identity')
    return
  }
  const disconnected = new AbortController()
  response.once('close', () => disconnected.abort())
  const startedAt = performance.now()
  try {
    if (verb === 'forget') identity.forget()
    else await identity.renew(AbortSignal.any([signal, disconnected.signal]))
    sendJson(response, { ok: true, tookMs: Math.round(performance.now() - startedAt) })
  } catch (error) {
    if (response.destroyed) return
    if (!isCredentialError(error)) throw error
    const { code, message, hint } = error
    sendJson(response, {
      ok: false,
      error: { code, message: shorten(message, 1000), hint: shorten(hint, 1000) },
    })
  }
}
