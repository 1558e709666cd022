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

/** What an agent's source has to know about those who wait for it. */
export interface Audience {
  /** What was asked last: its environment is the freshest. */
  latest(): GetRequest
  /** Whether somebody who waits can be asked at a terminal. */
  hasTerminal(): boolean
  /** Lets somebody with a terminal run it; undefined when nobody with one is left. */
  delegate(signal: AbortSignal): Promise<RunOutcome | undefined>
  /** Whether anybody waits at all. */
  isEmpty(): boolean
}

/** The exec stanza that a request stands for. */
export function execConfigOf({ execInfo, command, args }: GetRequest): ExecConfig {
  return {
    apiVersion: decodeExecInfo(parseJson(execInfo)).apiVersion,
    command,
    args: args.map((arg) => new Secret(arg)),
    env: [],
    provideClusterInfo: false,
    // Ahead of time it is never told that it may ask; when somebody waits, as they say.
    interactiveMode: 'IfAvailable',
  }
}

/**
 * A plugin as the agent runs it: with the environment of who asked last, in their folder, or at their terminal.
 *
 * The policy was asked by who asks, who also found the file: here exactly that file runs.
 */
export function agentSource(
  exec: ExecConfig,
  audience: Audience,
  { clock, limits }: { readonly clock: Clock; readonly limits: ExecLimits },
): Source {
  const { run, sha256 } = nodePrograms({})
  return execSource(
    {
      exec,
      policy: ALLOW_ALL,
      limits: limitsFor(audience, limits),
      clientCluster: () => decodeExecInfo(parseJson(audience.latest().execInfo)).cluster,
    },
    {
      crypto: nodeCrypto,
      clock,
      terminal: { isTerminal: () => audience.hasTerminal() },
      hostEnv: () => audience.latest().env,
      programs: {
        locate: () => findExecutable(audience.latest().path, { path: undefined }),
        sha256,
        async run(request) {
          if (request.interactive) {
            const outcome = await audience.delegate(request.signal)
            if (outcome !== undefined) return outcome
            if (audience.isEmpty() || request.signal.aborted) return ABANDONED
          }
          return run(await fromHere(request, audience.latest()))
        },
      },
    },
  )
}

/** The limits of who asked last, read when the plugin starts. */
function limitsFor(audience: Audience, limits: ExecLimits): ExecLimits {
  return {
    ...limits,
    get timeoutMs() {
      const { timeoutMs, isAttended } = audience.latest()
      return timeoutMs ?? (isAttended ? limits.interactiveTimeoutMs : limits.timeoutMs)
    },
    get interactiveTimeoutMs() {
      return audience.latest().timeoutMs ?? limits.interactiveTimeoutMs
    },
  }
}

const ABANDONED: RunOutcome = { ended: 'aborted', tookMs: 0, stderrTail: '' }

/** Without a terminal, whatever the source had decided: who had one is gone. */
async function fromHere(request: RunRequest, { cwd, execInfo }: GetRequest): Promise<RunRequest> {
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

/** Writes a credential as the plugin would have: one of the few places where secrets leave their boxes. */
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
