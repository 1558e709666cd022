import type { Code } from '../errors/index.ts'
import type { PLUGIN_CODES } from '../errors/plugin-errors.ts'
import type { CredentialEvent } from '../ports/observer.ts'

/** How a call to a plugin ended, in the words of KEP-541. */
export type CallStatus =
  | 'no_error'
  | 'plugin_execution_error'
  | 'plugin_not_found_error'
  | 'client_internal_error'

interface Row {
  readonly status: CallStatus
  readonly code: number | 'its exit status'
}

/** The process did its part. What it printed is judged later, and as in client-go that is not counted here. */
const WENT_WELL: Row = { status: 'no_error', code: 0 }
const EXITED: Row = { status: 'plugin_execution_error', code: 'its exit status' }
/** A process that ends by a signal has no exit status; Go says −1, also when the signal was ours. */
const STOPPED: Row = { status: 'plugin_execution_error', code: -1 }
/** Nothing there that could be run. client-go does not tell "missing" from "cannot be executed". */
const NOT_FOUND: Row = { status: 'plugin_not_found_error', code: 1 }
const OURS: Row = { status: 'client_internal_error', code: 1 }
/** It did not come to a call. */
const NO_CALL = undefined

type PluginCode = keyof typeof PLUGIN_CODES

/** Every error that a run can end with, as what it is counted. */
export const CALLS = {
  ERR_PLUGIN_NOT_FOUND: NOT_FOUND,
  ERR_PLUGIN_NOT_EXECUTABLE: NOT_FOUND,
  ERR_PLUGIN_EXEC_FORMAT: NOT_FOUND,
  ERR_PLUGIN_INPUT_TOO_LARGE: NOT_FOUND,
  ERR_PLUGIN_EXITED: EXITED,
  ERR_PLUGIN_KILLED: STOPPED,
  ERR_PLUGIN_TIMED_OUT: STOPPED,
  ERR_PLUGIN_OUTPUT_TOO_LARGE: STOPPED,
  ERR_PLUGIN_NO_OUTPUT: WENT_WELL,
  ERR_PLUGIN_SYNTAX: WENT_WELL,
  ERR_PLUGIN_VERSION: WENT_WELL,
  ERR_PLUGIN_OUTPUT_INVALID: WENT_WELL,
  ERR_PLUGIN_CERTIFICATE: WENT_WELL,
  ERR_PLUGIN_ENVIRONMENT: OURS,
  ERR_PLUGIN_NOT_STARTED: OURS,
  ERR_PLUGIN_NEEDS_TERMINAL: NO_CALL,
  ERR_PLUGIN_DENIED: NO_CALL,
  ERR_POLICY_INVALID: NO_CALL,
} as const satisfies Record<PluginCode, Row | undefined>

export type RunEnd = Extract<CredentialEvent, { type: 'run-succeeded' | 'run-failed' }>

/**
 * What a run of a plugin counts as; undefined when nobody tried to start a process.
 *
 * Looking for the executable belongs to starting it, as in client-go.
 */
export function describeCall(
  event: RunEnd,
): { readonly code: string; readonly call_status: CallStatus } | undefined {
  const row = event.type === 'run-succeeded' ? WENT_WELL : rowOf(event.error.code)
  if (row === undefined || (event.process === undefined && row !== NOT_FOUND)) return undefined
  const code = row.code === 'its exit status' ? (event.process?.exitStatus ?? -1) : row.code
  return { code: String(code), call_status: row.status }
}

/** A code that is not a plugin's, such as one from a newer copy of this package, is our own affair. */
function rowOf(code: Code): Row | undefined {
  return Object.hasOwn(CALLS, code) ? CALLS[code as PluginCode] : OURS
}
