import type { ServerResponse } from 'node:http'
import { isCredentialError } from 'kubecred'
import type { LiveState } from './live-state.ts'
import { sendJson, sendProblem } from './page-response.ts'
import { shorten } from './timeline-event.ts'

/** What a button of the page asks for. */
export interface PageAction {
  readonly id: string
  readonly verb: 'renew' | 'forget'
}

/** Reads the path of a button; undefined when it is another path. */
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
 * Does what a button asks for and says how it went. A plugin that fails is no failure of the page: the answer is 200
 * and says so.
 */
export async function performAction(
  { id, verb }: PageAction,
  state: LiveState,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const identity = state.find(id)
  if (identity === undefined) {
    sendProblem(response, 404, 'there is no such identity any more')
    return
  }
  const left = new AbortController()
  response.once('close', () => left.abort())
  const began = performance.now()
  try {
    if (verb === 'forget') identity.forget()
    else await identity.renew(AbortSignal.any([signal, left.signal]))
    sendJson(response, { ok: true, tookMs: Math.round(performance.now() - began) })
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
