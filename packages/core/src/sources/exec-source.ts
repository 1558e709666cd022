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

/** The limits of one plugin run. */
export interface ExecLimits {
  readonly timeoutMs: number
  /** The timeout of runs that can prompt the user. */
  readonly interactiveTimeoutMs: number
  readonly stdoutBytes: number
}

/** A plugin, with everything that influences what it returns. */
export interface ExecPlugin {
  readonly exec: ExecConfig
  /** Set if `provideClusterInfo` is true. */
  readonly cluster?: ExecCluster
  /** The cluster as another client describes it to the plugin, whose secrets must be scrubbed too. */
  readonly clientCluster?: () => ClusterInfo | undefined
  readonly policy: PluginPolicy
  /** Names of host variables that are passed to the plugin; all by default. */
  readonly passEnv?: readonly string[]
  readonly stdinUnavailable?: string
  readonly alphaKind?: 'ExecCredential' | 'ExecInfo'
  /** Rejects executables that other users could replace, instead of warning. */
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

/** Returns a source that runs an exec credential plugin for every credential. Caching is up to the keeper. */
export function execSource(plugin: ExecPlugin, ports: ExecPorts): Source {
  const { exec } = plugin
  const secretsNow = (): readonly Secret[] =>
    execSecrets(exec, plugin.cluster ?? plugin.clientCluster?.())
  return {
    label: { kind: 'exec', name: exec.command },
    lifecycle: {
      mayRunAhead: exec.interactiveMode !== 'Always',
      mayPrompt: exec.interactiveMode !== 'Never',
    },
    async acquire(ask) {
      const interactive = decide(plugin, ports, ask)
      const { command, installHint } = exec
      const found = await findAllowedProgram({ ...plugin, command, installHint }, ports, ask.report)
      // Lazy because of its YAML parser; before the run, so that nothing is awaited between its end and the answer.
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
  throw new PluginNeedsTerminalError(exec.command, `cannot prompt the user: ${decision.refused}`)
}

function processEnd(outcome: RunOutcome): ProcessEnd {
  return {
    isStarted: outcome.ended !== 'not-started',
    exitStatus: outcome.ended === 'exited' ? outcome.status : undefined,
    tookMs: outcome.tookMs,
  }
}

/** The host environment, then exec.env, then KUBERNETES_EXEC_INFO, which neither can override. */
function pluginEnv(
  { exec, cluster, passEnv, alphaKind, policy }: ExecPlugin,
  { hostEnv }: ExecPorts,
  { refusal, report }: AcquireContext,
  interactive: boolean,
): Record<string, string> {
  const env = pluginEnvironment(hostEnv(), passEnv)
  for (const { name, value } of exec.env) {
    // The process would see another name with another value.
    if (name.includes('=')) {
      throw new PluginEnvironmentError(
        exec.command,
        'cannot start: a name in exec.env contains "="',
      )
    }
    // The allowlist allows a program, not the code that a kubeconfig could load into it.
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

/** A plain word such as `get-token` is a subcommand. Hiding it would make messages useless. */
const SUBCOMMAND = /^[a-z]+(?:-[a-z]+)*$/
/** What counts as a flag after a flag: a password may begin with a dash too. */
const PLAIN_FLAG = /^--?[a-z][a-z-]*(?:=|$)/
/** A one-letter flag followed directly by its value, as in `-pPassw0rd`. */
const SHORT_WITH_VALUE = /^-[A-Za-z](?=.*[^a-z-])/

/** The fields of a cluster that are passed to a plugin and can hold secrets. */
interface ClusterInfo {
  /** The extension of the cluster entry. */
  readonly config?: unknown
  readonly proxyUrl?: string | Secret | undefined
}

/**
 * Returns the values passed to a plugin that must not appear in text. Existing kubeconfigs have client secrets in the
 * arguments and variables of `exec`, and in the extension of the cluster.
 */
export function execSecrets(exec: ExecConfig, cluster: ClusterInfo = {}): readonly Secret[] {
  const values = splitArgs(exec).flatMap(({ value }) => (value === '' ? [] : [new Secret(value)]))
  const { config, proxyUrl } = cluster
  const address = typeof proxyUrl === 'string' ? new Secret(proxyUrl) : proxyUrl
  return [
    ...values,
    ...exec.env.map(({ value }) => value),
    ...stringsIn(config).map((text) => new Secret(text)),
    ...(address === undefined ? [] : [address]),
  ]
}

/** All strings in plain data. The recursion is bounded, because kubeconfigs and JSON input have limited depth. */
function stringsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}

/** Returns the arguments for display: flag names stay, values become `…`. */
export function showArgs(exec: Pick<ExecConfig, 'args'>): string {
  return splitArgs(exec)
    .map(({ shown, value }) => (value === '' ? shown : `${shown}…`))
    .join(' ')
}

/** Splits each argument into the part to show and the value to hide. */
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
 * Returns a string that identifies a plugin and its configuration. Connections with the same string share a credential.
 *
 * The string contains secrets: hash it with the key of the process, never store or show it.
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
