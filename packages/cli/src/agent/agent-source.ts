import { stat } from 'node:fs/promises'
import { Secret } from 'kubecred'
import {
  ALLOW_ALL,
  type ApiVersion,
  type Clock,
  type Credential,
  decodeExecInfo,
  type ExecConfig,
  type ExecLimits,
  encodeJson,
  execSource,
  findExecutable,
  formatRfc3339,
  nodeCrypto,
  nodePrograms,
  parseJson,
  type RunOutcome,
  type RunRequest,
  type Source,
} from 'kubecred/internal'
import { joinExecInfo } from './exec-info-text.ts'
import type { GetRequest } from './protocol.ts'

/** The waiting requests, as the source of an agent sees them. */
export interface Requesters {
  /** The most recent request: its environment is the most up to date. */
  latest(): GetRequest
  /** Whether one of the waiting requesters has a terminal for prompts. */
  hasTerminal(): boolean
  /** Lets a requester with a terminal run the plugin; undefined if none of them is left. */
  delegate(signal: AbortSignal): Promise<RunOutcome | undefined>
  /** Whether no requester is waiting. */
  isEmpty(): boolean
}

/** Returns the exec stanza that a request describes. */
export function execConfigOf({ execInfo, command, args }: GetRequest): ExecConfig {
  return {
    apiVersion: decodeExecInfo(parseJson(execInfo)).apiVersion,
    command,
    args: args.map((arg) => new Secret(arg)),
    env: [],
    provideClusterInfo: false,
    // A renewal ahead of expiry is never interactive; otherwise the waiting requesters decide.
    interactiveMode: 'IfAvailable',
  }
}

/**
 * Returns a source that runs the plugin with the environment and working directory of the latest requester, or at the
 * terminal of a requester.
 *
 * The requester has already located the file and applied the plugin policy: exactly that file runs here.
 */
export function agentSource(
  exec: ExecConfig,
  requesters: Requesters,
  { clock, limits }: { readonly clock: Clock; readonly limits: ExecLimits },
): Source {
  const { run, sha256 } = nodePrograms({})
  return execSource(
    {
      exec,
      policy: ALLOW_ALL,
      limits: limitsFor(requesters, limits),
      clientCluster: () => decodeExecInfo(parseJson(requesters.latest().execInfo)).cluster,
    },
    {
      crypto: nodeCrypto,
      clock,
      terminal: { isTerminal: () => requesters.hasTerminal() },
      hostEnv: () => requesters.latest().env,
      programs: {
        locate: () => findExecutable(requesters.latest().path, { path: undefined }),
        sha256,
        async run(request) {
          if (request.interactive) {
            const outcome = await requesters.delegate(request.signal)
            if (outcome !== undefined) return outcome
            if (requesters.isEmpty() || request.signal.aborted) return ABANDONED
          }
          return run(await withoutTerminal(request, requesters.latest()))
        },
      },
    },
  )
}

/** The limits of the latest request, read when the plugin starts. */
function limitsFor(requesters: Requesters, limits: ExecLimits): ExecLimits {
  return {
    ...limits,
    get timeoutMs() {
      const { timeoutMs, isAttended } = requesters.latest()
      return timeoutMs ?? (isAttended ? limits.interactiveTimeoutMs : limits.timeoutMs)
    },
    get interactiveTimeoutMs() {
      return requesters.latest().timeoutMs ?? limits.interactiveTimeoutMs
    },
  }
}

const ABANDONED: RunOutcome = { ended: 'aborted', tookMs: 0, stderrTail: '' }

/** Makes a run non-interactive, whatever the source decided: the requester with the terminal has left. */
async function withoutTerminal(
  request: RunRequest,
  { cwd, execInfo }: GetRequest,
): Promise<RunRequest> {
  const isThere = await stat(cwd).then(
    (facts) => facts.isDirectory(),
    () => false,
  )
  return {
    ...request,
    interactive: false,
    env: { ...request.env, KUBERNETES_EXEC_INFO: joinExecInfo(execInfo, false) },
    cwd: isThere ? cwd : '/',
  }
}

/** Encodes a credential as the plugin would have printed it. One of the few places that expose secrets. */
export function credentialAnswer(
  { token, certificate }: Credential,
  expiresAt: number,
  apiVersion: ApiVersion,
): string {
  return encodeJson({
    kind: 'ExecCredential',
    apiVersion,
    status: {
      expirationTimestamp: Number.isFinite(expiresAt)
        ? formatRfc3339(Math.floor(expiresAt / 1000) * 1000)
        : undefined,
      token: token?.expose(),
      clientCertificateData: certificate?.chain,
      clientKeyData: certificate?.key?.expose(),
    },
  })
}
