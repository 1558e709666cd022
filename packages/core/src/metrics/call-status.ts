import type { Code } from '../errors/index.ts'
import type { PLUGIN_CODES } from '../errors/plugin-errors.ts'
import type { CredentialEvent } from '../ports/observer.ts'

/** How a call to a plugin ended: the label values of KEP-541. */
export type CallStatus =
  | 'no_error'
  | 'plugin_execution_error'
  | 'plugin_not_found_error'
  | 'client_internal_error'

interface Row {
  readonly status: CallStatus
  readonly code: number | 'its exit status'
}

/** The process succeeded. As in client-go, an invalid output is not counted as a failed call. */
const NO_ERROR: Row = { status: 'no_error', code: 0 }
/** The process exited with a status other than 0. */
const EXITED: Row = { status: 'plugin_execution_error', code: 'its exit status' }
/** The process ended by a signal, ours or another, and has no exit status. Go reports −1. */
const KILLED: Row = { status: 'plugin_execution_error', code: -1 }
/** There is nothing to run. client-go does not distinguish "missing" from "not executable". */
const NOT_FOUND: Row = { status: 'plugin_not_found_error', code: 1 }
const INTERNAL: Row = { status: 'client_internal_error', code: 1 }
/** The plugin was not called. */
const NO_CALL = undefined

type PluginCode = keyof typeof PLUGIN_CODES

/** How each error of a plugin run is counted. */
export const CALLS = {
  ERR_PLUGIN_NOT_FOUND: NOT_FOUND,
  ERR_PLUGIN_NOT_EXECUTABLE: NOT_FOUND,
  ERR_PLUGIN_EXEC_FORMAT: NOT_FOUND,
  ERR_PLUGIN_INPUT_TOO_LARGE: NOT_FOUND,
  ERR_PLUGIN_EXITED: EXITED,
  ERR_PLUGIN_KILLED: KILLED,
  ERR_PLUGIN_TIMED_OUT: KILLED,
  ERR_PLUGIN_OUTPUT_TOO_LARGE: KILLED,
  ERR_PLUGIN_NO_OUTPUT: NO_ERROR,
  ERR_PLUGIN_SYNTAX: NO_ERROR,
  ERR_PLUGIN_VERSION: NO_ERROR,
  ERR_PLUGIN_OUTPUT_INVALID: NO_ERROR,
  ERR_PLUGIN_CERTIFICATE: NO_ERROR,
  ERR_PLUGIN_ENVIRONMENT: INTERNAL,
  ERR_PLUGIN_NOT_STARTED: INTERNAL,
  ERR_PLUGIN_NEEDS_TERMINAL: NO_CALL,
  ERR_PLUGIN_DENIED: NO_CALL,
  ERR_POLICY_INVALID: NO_CALL,
} as const satisfies Record<PluginCode, Row | undefined>

/** The event of a run that ended. */
export type RunEnd = Extract<CredentialEvent, { type: 'run-succeeded' | 'run-failed' }>

/**
 * Returns the labels that a plugin run is counted with, or undefined if no process was to be started.
 *
 * As in client-go, an executable that is not found counts as a call.
 */
export function describeCall(
  event: RunEnd,
): { readonly code: string; readonly call_status: CallStatus } | undefined {
  const row = event.type === 'run-succeeded' ? NO_ERROR : rowOf(event.error.code)
  if (row === undefined || (event.process === undefined && row !== NOT_FOUND)) return undefined
  const code = row.code === 'its exit status' ? (event.process?.exitStatus ?? -1) : row.code
  return { code: String(code), call_status: row.status }
}

/** Any code that is not a plugin's, such as one of a newer copy of this package, counts as an internal error. */
function rowOf(code: Code): Row | undefined {
  return Object.hasOwn(CALLS, code) ? CALLS[code as PluginCode] : INTERNAL
}
