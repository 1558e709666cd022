import {
  type CredentialError,
  PluginEnvironmentError,
  PluginExecFormatError,
  PluginExitedError,
  PluginInputTooLargeError,
  PluginKilledError,
  PluginNotExecutableError,
  PluginNotStartedError,
  PluginOutputTooLargeError,
  type PluginRunFacts,
  PluginTimedOutError,
} from '../errors/index.ts'
import type { RunFailure, RunOutcome, RunRequest } from '../ports/programs.ts'
import { scrub, showControlCharacters } from '../secret/scrub.ts'
import type { Secret } from '../secret/secret.ts'

/** How much of the end of standard error is shown. */
const MAX_SHOWN_STDERR = 4096

/** Returns what errors may show of a run: its duration, and the end of its standard error without secrets. */
export function runFacts(outcome: RunOutcome, secrets: readonly Secret[]): PluginRunFacts {
  // Cut after scrubbing: the scrubber does not recognise half a secret.
  const shown = showControlCharacters(scrub(outcome.stderrTail, secrets)).trim()
  const tail = shown.slice(-MAX_SHOWN_STDERR)
  return { tookMs: outcome.tookMs, ...(tail !== '' && { stderrTail: tail }) }
}

/** Returns the error for a plugin that exited with a status other than 0. */
export function exitError(command: string, status: number, facts: PluginRunFacts): CredentialError {
  return new PluginExitedError(command, status, {
    ...facts,
    hint: 'Run the plugin by hand to see more, and log in again if it asks you to.',
  })
}

/** Returns the error for a plugin that was stopped, or that could not be started. */
export function runError(
  outcome: RunFailure,
  request: RunRequest,
  facts: PluginRunFacts,
): CredentialError {
  const { command } = request
  switch (outcome.ended) {
    case 'killed':
      return new PluginKilledError(command, outcome.signal, facts)
    case 'timed-out':
      return new PluginTimedOutError(
        command,
        `did not answer within ${seconds(request.timeoutMs)} and was stopped`,
        facts,
      )
    case 'output-too-large':
      return new PluginOutputTooLargeError(
        command,
        `printed more than ${request.stdoutLimit} bytes to standard output and was stopped`,
        facts,
      )
    case 'aborted':
      return new PluginNotStartedError(
        command,
        'was stopped because the connection was closed',
        facts,
      )
    case 'not-started':
      return startError(outcome, request, facts)
  }
}

function startError(
  { errno, reason }: Extract<RunFailure, { ended: 'not-started' }>,
  { command, path, env }: RunRequest,
  facts: PluginRunFacts,
): CredentialError {
  const where = command === path ? '' : ` (${showControlCharacters(path)})`
  switch (errno) {
    case 'ENOENT':
      return new PluginExecFormatError(
        command,
        `cannot run${where}: the interpreter named in its first line does not exist`,
        facts,
      )
    case 'ENOEXEC':
    // ENOEXEC and EBADARCH of macOS, for which Node has no names.
    case 'Unknown system error -8':
    case 'Unknown system error -86':
      return new PluginExecFormatError(
        command,
        `cannot run${where}: it is not a program for this machine (exec format error)`,
        facts,
      )
    case 'EACCES':
    case 'EPERM':
      return new PluginNotExecutableError(command, `cannot run${where}: permission denied`, facts)
    case 'E2BIG': {
      const size = env['KUBERNETES_EXEC_INFO']?.length ?? 0
      return new PluginInputTooLargeError(
        command,
        `cannot start: its arguments and environment are too large (KUBERNETES_EXEC_INFO has ${size} bytes)`,
        facts,
      )
    }
    case 'ERR_INVALID_ARG_VALUE':
      return new PluginEnvironmentError(
        command,
        'cannot start: an argument or environment variable contains a NUL byte',
        facts,
      )
    case 'ERR_UNSAFE_ARGUMENT':
      return new PluginEnvironmentError(command, `cannot start${where}: ${reason}`, {
        ...facts,
        hint: 'Change the argument, or use a plugin that is an .exe file.',
      })
    default:
      return new PluginNotStartedError(command, `cannot start${where}: ${errno} (${reason})`, facts)
  }
}

function seconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 100) / 10} s`
}
