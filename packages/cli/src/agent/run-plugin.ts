import { Secret } from 'kubecred'
import {
  type ExecLimits,
  nodePrograms,
  pluginEnvironment,
  type Report,
  type RunOutcome,
  systemClock,
} from 'kubecred/internal'
import { agentSource, credentialAnswer, execConfigOf } from './agent-source.ts'
import { joinExecInfo } from './exec-info-text.ts'
import type { DepositedOutcome, GetRequest } from './protocol.ts'

/** Runs the plugin interactively at this terminal, as the client would have. Never rejects. */
export function runAtTerminal(request: GetRequest, signal: AbortSignal): Promise<RunOutcome> {
  const { command, path, args, env, cwd, execInfo } = request
  return nodePrograms(env).run({
    command,
    path,
    args: args.map((arg) => new Secret(arg)),
    env: { ...pluginEnvironment(env), KUBERNETES_EXEC_INFO: joinExecInfo(execInfo, true) },
    cwd,
    interactive: true,
    timeoutMs: request.timeoutMs ?? PLUGIN_LIMITS.interactiveTimeoutMs,
    stdoutLimit: PLUGIN_LIMITS.stdoutBytes,
    signal,
  })
}

/** Encodes an outcome for sending. */
export function encodeOutcome(outcome: RunOutcome): DepositedOutcome {
  if (outcome.ended !== 'exited') return outcome
  return { ...outcome, stdout: Buffer.from(outcome.stdout).toString('base64') }
}

/** Options of {@link runWithoutAgent}. */
export interface RunWithoutAgentOptions {
  readonly signal: AbortSignal
  readonly report: (event: Report) => void
  /** The outcome of a run that this process made for an agent that has gone away; the plugin is not run again. */
  readonly outcome?: RunOutcome | undefined
}

/**
 * Runs the plugin without an agent, and checks its answer as the agent would.
 *
 * @returns An ExecCredential as JSON.
 * @throws {CredentialError}
 */
export async function runWithoutAgent(
  request: GetRequest,
  { signal, report, outcome }: RunWithoutAgentOptions,
): Promise<string> {
  const exec = execConfigOf(request)
  const source = agentSource(
    exec,
    {
      latest: () => request,
      hasTerminal: () => outcome !== undefined || request.isInteractive,
      delegate: async () => outcome ?? runAtTerminal(request, signal),
      isEmpty: () => false,
    },
    { clock: systemClock, limits: PLUGIN_LIMITS },
  )
  const { credential, expiresAt } = await source.acquire({ reason: 'first', signal, report })
  return credentialAnswer(credential, expiresAt, exec.apiVersion)
}

/** Limits of a plugin behind `kubecred-token`. Its output must fit into a frame as base64. */
export const PLUGIN_LIMITS: ExecLimits = {
  timeoutMs: 60_000,
  interactiveTimeoutMs: 600_000,
  stdoutBytes: 512 * 1024,
}
