import type { CertificatePair } from '../credential/credential.ts'
import {
  PluginCertificateError,
  PluginEnvironmentError,
  PluginNeedsTerminalError,
} from '../errors/index.ts'
import { encodeJson } from '../formats/json.ts'
import { formatRfc3339 } from '../formats/rfc3339.ts'
import { decideInteractivity, type ExecConfig } from '../kubeconfig/exec-config.ts'
import { type ExecCluster, encodeExecInfo } from '../plugin/exec-info.ts'
import type { ExecAnswer } from '../plugin/exec-status.ts'
import { isLoaderVariable, pluginEnvironment } from '../plugin/plugin-environment.ts'
import type { PluginPolicy } from '../plugin/plugin-policy.ts'
import type { Clock } from '../ports/clock.ts'
import type { Crypto } from '../ports/crypto.ts'
import type { ProcessEnd } from '../ports/observer.ts'
import type { Programs, RunOutcome, RunRequest } from '../ports/programs.ts'
import type { Terminal } from '../ports/terminal.ts'
import { scrub } from '../secret/scrub.ts'
import { Secret } from '../secret/secret.ts'
import { findAllowedProgram } from './find-allowed-program.ts'
import { exitError, runError, runFacts } from './plugin-run-errors.ts'
import type { AcquireContext, Acquired, Source } from './source.ts'
import { describePairProblem } from './static-source.ts'

export interface ExecLimits {
  readonly timeoutMs: number
  /** For runs in which a person is asked. */
  readonly interactiveTimeoutMs: number
  readonly stdoutBytes: number
}

/** One plugin with everything that decides what it answers. */
export interface ExecPlugin {
  readonly exec: ExecConfig
  /** Set when `provideClusterInfo` asks for it. */
  readonly cluster?: ExecCluster
  /** What somebody else tells it about the cluster. */
  readonly clientCluster?: () => ToldCluster | undefined
  readonly policy: PluginPolicy
  /** Names of host variables the plugin may see; all of them when undefined. */
  readonly passEnv?: readonly string[]
  readonly stdinUnavailable?: string
  readonly alphaKind?: 'ExecCredential' | 'ExecInfo'
  /** Refuses executables that others could replace, instead of warning. */
  readonly refuseWritable?: boolean
  readonly limits: ExecLimits
}

interface ExecPorts {
  readonly programs: Programs
  readonly terminal: Terminal
  readonly crypto: Crypto
  readonly clock: Clock
  readonly hostEnv: () => Readonly<Record<string, string | undefined>>
}

/** An exec credential plugin as a source: policy, input, run, answer, checks. Nothing is kept here. */
export function execSource(plugin: ExecPlugin, ports: ExecPorts): Source {
  const { exec } = plugin
  const secretsNow = (): readonly Secret[] =>
    execSecrets(exec, plugin.cluster ?? plugin.clientCluster?.())
  return {
    label: { kind: 'exec', name: exec.command },
    lifecycle: {
      mayRunAhead: exec.interactiveMode !== 'Always',
      mayAsk: exec.interactiveMode !== 'Never',
    },
    async acquire(ask) {
      const interactive = decide(plugin, ports, ask)
      const { command, installHint } = exec
      const found = await findAllowedProgram({ ...plugin, command, installHint }, ports, ask.report)
      // Loaded when used, because it reads YAML too; and before the run, so that its end and the answer are one moment.
      const { decodeExecCredential } = await import('../plugin/exec-credential.ts')
      const secrets = secretsNow()
      const request: RunRequest = {
        command: exec.command,
        path: found.path,
        args: exec.args,
        env: pluginEnv(plugin, ports, ask, interactive),
        interactive,
        timeoutMs: interactive ? plugin.limits.interactiveTimeoutMs : plugin.limits.timeoutMs,
        stdoutLimit: plugin.limits.stdoutBytes,
        onStart: () => ask.report({ type: 'plugin-started', isInteractive: interactive }),
        onStderr: (text) => ask.report({ type: 'plugin-stderr', text: scrub(text, secrets) }),
        signal: ask.signal,
      }
      const outcome = await ports.programs.run(request)
      ask.report({ type: 'plugin-ended', process: processEnd(outcome) })
      const facts = runFacts(outcome, secrets)
      if (outcome.ended !== 'exited') throw runError(outcome, request, facts)
      if (outcome.status !== 0) throw exitError(command, outcome.status, facts)
      const { apiVersion } = exec
      return acquired(decodeExecCredential(outcome.stdout, { apiVersion, command, facts }))
    },
  }

  function acquired(answer: ExecAnswer): Acquired {
    const certificate = readCertificate(answer, exec.command, ports.crypto, ports.clock.now())
    return {
      credential: {
        ...(answer.token && { token: answer.token }),
        ...(certificate && { certificate }),
      },
      expiresAt: answer.expiresAt,
    }
  }
}

function decide(
  { exec, stdinUnavailable }: ExecPlugin,
  { terminal }: ExecPorts,
  { reason }: AcquireContext,
): boolean {
  const decision = decideInteractivity(exec.interactiveMode, {
    isTerminal: terminal.isTerminal(),
    stdinUnavailable,
    early: reason === 'ahead',
  })
  if ('interactive' in decision) return decision.interactive
  throw new PluginNeedsTerminalError(exec.command, `cannot ask you anything: ${decision.refused}`)
}

function processEnd(outcome: RunOutcome): ProcessEnd {
  return {
    isStarted: outcome.ended !== 'not-started',
    exitStatus: outcome.ended === 'exited' ? outcome.status : undefined,
    tookMs: outcome.tookMs,
  }
}

/** Host environment, then the stanza's, then the input: neither of the others can shadow it. */
function pluginEnv(
  { exec, cluster, passEnv, alphaKind, policy }: ExecPlugin,
  { hostEnv }: ExecPorts,
  { refusal, report }: AcquireContext,
  interactive: boolean,
): Record<string, string> {
  const env = pluginEnvironment(hostEnv(), passEnv)
  for (const { name, value } of exec.env) {
    // It would arrive as another name with another value, in front of the one that is meant.
    if (name.includes('=')) {
      throw new PluginEnvironmentError(
        exec.command,
        'cannot start: a name in exec.env has "=" in it',
      )
    }
    // The allowlist names a program. With code that the kubeconfig loads into it, it would be another one.
    if (policy.type === 'Allowlist' && isLoaderVariable(name)) {
      const message = `${name} in exec.env can load code into any program, so it is not passed to ${JSON.stringify(exec.command)}: the plugin policy allows that program only`
      report({ type: 'warning', message })
      continue
    }
    env[name] = value.expose()
  }
  const { apiVersion } = exec
  env['KUBERNETES_EXEC_INFO'] = encodeExecInfo({
    apiVersion,
    interactive,
    cluster,
    refusal,
    kind: alphaKind,
  })
  return env
}

function readCertificate(
  answer: ExecAnswer,
  command: string,
  crypto: Crypto,
  now: number,
): CertificatePair | undefined {
  if (answer.certificate === undefined) return undefined
  const pair = crypto.readPair(answer.certificate.chain, answer.certificate.key)
  if (typeof pair === 'string') {
    throw new PluginCertificateError(
      command,
      `returned a certificate that cannot be used: ${describePairProblem(pair)}`,
    )
  }
  if (pair.notAfter <= now) {
    throw new PluginCertificateError(
      command,
      `returned a certificate that expired at ${formatRfc3339(pair.notAfter)}`,
      {
        hint: 'Log in again with the plugin or clear its cache; if the time looks right, check the clock of this machine.',
      },
    )
  }
  return pair
}

/** A plain word such as `get-token` is a subcommand; hiding it would only hide the message. */
const SUBCOMMAND = /^[a-z]+(?:-[a-z]+)*$/
/** After a flag, only this is another flag: a password may begin with a dash too. */
const PLAIN_FLAG = /^--?[a-z][a-z-]*(?:=|$)/
/** One letter with its value behind it, as in `-pPassw0rd`. */
const SHORT_WITH_VALUE = /^-[A-Za-z](?=.*[^a-z-])/

/** What of a cluster is told to a plugin and must not appear in text. */
interface ToldCluster {
  /** The extension of the cluster entry. */
  readonly config?: unknown
  readonly proxyUrl?: string | Secret | undefined
}

/**
 * The values that a plugin gets and that must not appear in text: in the wild, client secrets stand in the exec stanza
 * and in the extension of the cluster.
 */
export function execSecrets(exec: ExecConfig, cluster: ToldCluster = {}): readonly Secret[] {
  const values = splitArgs(exec).flatMap(({ value }) => (value === '' ? [] : [new Secret(value)]))
  const { config, proxyUrl } = cluster
  const address = typeof proxyUrl === 'string' ? new Secret(proxyUrl) : proxyUrl
  return [
    ...values,
    ...exec.env.map(({ value }) => value),
    ...textsIn(config).map((text) => new Secret(text)),
    ...(address === undefined ? [] : [address]),
  ]
}

/** Every text in plain data; its depth is that of a kubeconfig or of an answer in JSON, which are bounded. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** An argument list for people: names of flags stay, values become `…`. */
export function showArgs(exec: Pick<ExecConfig, 'args'>): string {
  return splitArgs(exec)
    .map(({ shown, value }) => (value === '' ? shown : `${shown}…`))
    .join(' ')
}

/** Each argument as the part that may be shown and the value that may not. */
function splitArgs({ args }: Pick<ExecConfig, 'args'>): { shown: string; value: string }[] {
  let isAfterFlag = false
  return args.map((arg) => {
    const text = arg.expose()
    const isValue = isAfterFlag && !PLAIN_FLAG.test(text)
    isAfterFlag = !isValue && text.startsWith('-') && !text.includes('=')
    if (isValue) return { shown: '', value: text }
    const end = text.startsWith('-') ? endOfFlag(text) : SUBCOMMAND.test(text) ? text.length : 0
    return { shown: text.slice(0, end), value: text.slice(end) }
  })
}

function endOfFlag(text: string): number {
  if (text.includes('=')) return text.indexOf('=') + 1
  return SHORT_WITH_VALUE.test(text) ? 2 : text.length
}

/**
 * Everything that makes two plugin users different, as one text.
 *
 * Two connections with the same text mean the same credential and share it. The text holds secrets:
 * hash it with the process's own key, never store or show it.
 */
export function execIdentity(
  { exec, cluster, policy, ...rest }: ExecPlugin,
  more: unknown,
): string {
  return encodeJson({
    ...exec,
    args: exec.args.map((arg) => arg.expose()),
    env: exec.env.map(({ name, value }) => [name, value.expose()]),
    cluster: exec.provideClusterInfo ? cluster : undefined,
    policy,
    rest,
    more,
  })
}
