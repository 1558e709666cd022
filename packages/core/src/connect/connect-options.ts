import { checkOptionNames } from '../errors/option-names.ts'
import { checkKubeconfigOption, type KubeconfigOption } from '../kubeconfig/inline-kubeconfig.ts'
import { OVERRIDE_NAMES, type Overrides } from '../kubeconfig/overrides.ts'
import { requireAbility } from '../node/runtime.ts'
import type { Observer, SourceLabel } from '../ports/observer.ts'
import type { Vault } from '../vault/vault.ts'

/** Limits and rules of a connection. Every one has a safe default. */
export interface ConnectPolicy {
  /**
   * The statuses that count as a refusal of the credential: 401, or 401 and 403 for servers that answer 403 to an expired
   * credential.
   *
   * @defaultValue `[401]`
   */
  readonly refreshOn?: readonly number[]
  /**
   * Names of the environment variables that plugins receive, in addition to those of their `env`.
   *
   * @defaultValue all variables
   */
  readonly pluginEnv?: readonly string[]
  /**
   * Folders to search for plugins before PATH, as absolute paths, for programs that do not have the shell's PATH. Plugins
   * have them at the end of their PATH.
   *
   * @defaultValue none
   */
  readonly pluginFolders?: readonly string[]
  /**
   * Time limit of a plugin.
   *
   * @defaultValue 60,000 (60 s)
   */
  readonly pluginTimeoutMs?: number
  /**
   * Time limit of a plugin that can prompt the user.
   *
   * @defaultValue 600,000 (10 min)
   */
  readonly interactiveTimeoutMs?: number
  /**
   * How much a plugin may print to standard output.
   *
   * @defaultValue 1,048,576 (1 MiB)
   */
  readonly pluginOutputBytes?: number
  /**
   * How many plugins may run at once. The last value that was set applies to the whole process.
   *
   * @defaultValue 8
   */
  readonly pluginLimit?: number
  /**
   * How long an external signer process is kept without a request. It may ask for its PIN again after that.
   *
   * @experimental
   * @defaultValue 600,000 (10 min)
   */
  readonly signerIdleMs?: number
  /**
   * Rejects plugins that every user of the machine can replace. Without it there is a warning.
   *
   * @defaultValue `false`
   */
  readonly refuseWritablePlugins?: boolean
  /**
   * The `kind` of the input of v1alpha1 plugins; `ExecInfo` is that of the first proposal.
   *
   * @defaultValue `'ExecCredential'`
   */
  readonly v1alpha1Kind?: 'ExecCredential' | 'ExecInfo'
  /**
   * First pause after a failed run or a refused credential. Each further pause is twice as long.
   *
   * @defaultValue 1,000 (1 s)
   */
  readonly backoffFirstMs?: number
  /**
   * Maximum pause after a failed run or a refused credential.
   *
   * @defaultValue 300,000 (5 min)
   */
  readonly backoffLimitMs?: number
  /**
   * Short requests at once per identity and server. Further requests wait.
   *
   * @defaultValue 64
   */
  readonly requestLimit?: number
  /**
   * Watches and other long responses at once per identity and server. A further one is an error.
   *
   * @defaultValue 1,000
   */
  readonly streamLimit?: number
  /**
   * How long requests and watches in flight may continue after the certificate, key or CA of their connection was
   * replaced. 0 ends them at once, as client-go does.
   *
   * @defaultValue no limit
   */
  readonly drainLimitMs?: number
}

/** Options of `connect()`. Overrides have the names of kubectl's flags. */
export interface ConnectOptions extends Overrides {
  /**
   * Login handlers, instead of a kubeconfig. Of the overrides, only `disableCompression` and impersonation can be combined
   * with it.
   *
   * @defaultValue none
   */
  readonly vault?: Vault | undefined
  /**
   * The path of a kubeconfig file, or several, which must exist; or a kubeconfig itself, as `{ text, folder }` or as the
   * parsed object. With an empty list no kubeconfig is read.
   *
   * A kubeconfig without a file is read once. Relative paths in it resolve against `folder` and are an error without
   * one, and refreshed OIDC tokens cannot be saved.
   *
   * @defaultValue `KUBECONFIG`, `~/.kube/config` or the pod's service account
   */
  readonly kubeconfig?: KubeconfigOption | undefined
  /**
   * kubectl's preferences file with the plugin policy.
   *
   * @defaultValue `KUBERC` or `~/.kube/kuberc`
   */
  readonly kuberc?: string | undefined
  /**
   * Closes the connection when aborted.
   *
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined
  /**
   * Limits and rules of the connection.
   *
   * @defaultValue every field has a default
   */
  readonly policy?: ConnectPolicy | undefined
  /**
   * Receives events, without secrets.
   *
   * @defaultValue none
   */
  readonly observer?: Observer | undefined
  /**
   * Shows what a signer asks of the user, such as to touch the device, until the prompt's signal is aborted. Observers
   * receive the same as events.
   *
   * @experimental
   * @defaultValue none
   */
  readonly onPrompt?: ((prompt: UserPrompt) => void) | undefined
  /**
   * Why standard input is not available, for a program that reads it itself: then plugins cannot prompt the user.
   *
   * @defaultValue standard input is available
   */
  readonly stdinUnavailable?: string | undefined
  /**
   * Writes refreshed tokens of an auth-provider `oidc` to the kubeconfig file they came from, as kubectl does. Without it
   * the file is only read.
   *
   * @defaultValue `false`
   */
  readonly saveOidcTokens?: boolean | undefined
  /**
   * `pool` uses undici and keeps several connections. `https` uses Node's `https` client: it loads faster and keeps fewer
   * connections, for programs with a few requests. `http2` sends everything over one or a few connections: for many
   * watches, distant servers and slow signing keys.
   *
   * @defaultValue `'pool'`, with HTTP/2 for a signing key if the server supports it; under Bun `'https'`
   */
  readonly transport?: 'pool' | 'https' | 'http2' | undefined
  /**
   * The environment to use instead of that of the process, also for plugins.
   *
   * @defaultValue `process.env`
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
}

const OVERRIDES = Object.fromEntries(OVERRIDE_NAMES.map((name) => [name, true]))

const OPTIONS = Object.keys({
  kubeconfig: true,
  kuberc: true,
  ...(OVERRIDES as Record<keyof Overrides, true>),
  signal: true,
  policy: true,
  observer: true,
  onPrompt: true,
  stdinUnavailable: true,
  saveOidcTokens: true,
  vault: true,
  transport: true,
  env: true,
} satisfies Record<keyof ConnectOptions, true>)

const POLICY = Object.keys({
  refreshOn: true,
  pluginEnv: true,
  pluginFolders: true,
  pluginTimeoutMs: true,
  interactiveTimeoutMs: true,
  pluginOutputBytes: true,
  pluginLimit: true,
  signerIdleMs: true,
  refuseWritablePlugins: true,
  v1alpha1Kind: true,
  backoffFirstMs: true,
  backoffLimitMs: true,
  requestLimit: true,
  streamLimit: true,
  drainLimitMs: true,
} satisfies Record<keyof ConnectPolicy, true>)

/** Overrides that apply to every login. All others are fields that a login handler returns. */
const ALLOWED_WITH_VAULT: readonly (keyof Overrides)[] = [
  'disableCompression',
  'as',
  'asUid',
  'asGroups',
  'asUserExtra',
]
const NOT_ALLOWED_WITH_VAULT = [
  'kubeconfig' as const,
  ...OVERRIDE_NAMES.filter((name) => !ALLOWED_WITH_VAULT.includes(name)),
]

const TRANSPORTS: readonly unknown[] = ['pool', 'https', 'http2', undefined]

const COUNTS = [
  'pluginTimeoutMs',
  'interactiveTimeoutMs',
  'pluginOutputBytes',
  'pluginLimit',
  'signerIdleMs',
  'backoffFirstMs',
  'backoffLimitMs',
  'requestLimit',
  'streamLimit',
] as const

/** The limit of Node's timers: a longer one fires at once. */
const MAX_TIMEOUT_MS = 2_147_483_647

/**
 * Checks the options for programs without types: an unknown option would be ignored silently.
 *
 * @throws {TypeError} With the name of the option.
 * @throws {NotSupportedError} `ERR_NOT_SUPPORTED` if this runtime cannot use the transport.
 */
export function checkOptions(options: ConnectOptions): void {
  checkOptionNames(options, 'connect()', OPTIONS)
  const { transport, policy } = options
  if (!TRANSPORTS.includes(transport)) {
    throw new TypeError(`transport must be 'pool', 'https' or 'http2', got ${String(transport)}`)
  }
  if (transport === 'pool') requireAbility('undici')
  if (transport === 'http2') requireAbility('http2')
  const conflicting = NOT_ALLOWED_WITH_VAULT.find((name) => options[name] !== undefined)
  if (options.vault !== undefined && conflicting !== undefined) {
    throw new TypeError(
      `${conflicting} cannot be combined with vault: return it from a login handler, or use loginWithKubeconfig`,
    )
  }
  checkKubeconfigOption(options.kubeconfig)
  checkPolicy(policy ?? {})
}

/**
 * Checks a policy: names, and that its limits are numbers that can apply.
 *
 * @throws {TypeError} With the name of the option.
 */
export function checkPolicy(policy: ConnectPolicy): void {
  checkOptionNames(policy, 'policy', POLICY)
  for (const name of COUNTS) {
    const value = policy[name]
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0)) {
      throw new TypeError(`policy.${name} must be a whole number above 0, got ${String(value)}`)
    }
    if (name.endsWith('Ms') && value !== undefined && value > MAX_TIMEOUT_MS) {
      throw new TypeError(`policy.${name} must be at most ${MAX_TIMEOUT_MS}, got ${String(value)}`)
    }
  }
  const { drainLimitMs = 0 } = policy
  if (
    !(Number.isSafeInteger(drainLimitMs) && drainLimitMs >= 0 && drainLimitMs <= MAX_TIMEOUT_MS)
  ) {
    throw new TypeError(
      `policy.drainLimitMs must be a whole number from 0 to ${MAX_TIMEOUT_MS}, got ${String(drainLimitMs)}`,
    )
  }
  for (const status of policy.refreshOn ?? []) {
    if (status !== 401 && status !== 403) {
      throw new TypeError(`policy.refreshOn takes 401 and 403, got ${String(status)}`)
    }
  }
}

/**
 * What a signer asks of the user.
 *
 * @experimental
 */
export interface UserPrompt {
  /** One line, without control characters or secrets. */
  readonly text: string
  /** The signer that asks. */
  readonly source: SourceLabel
  /** Aborted when the text should disappear: it was done, or is no longer needed. */
  readonly signal: AbortSignal
}

/** Makes an observer that shows prompts, each until it ends or the next one replaces it. */
export function promptObserver(onPrompt: (prompt: UserPrompt) => void): Observer {
  const shown = new Map<SourceLabel, AbortController>()
  return (event) => {
    const { source, type } = event
    const isOver = type === 'user-prompt' || type === 'prompt-ended' || type === 'detached'
    if (!isOver) return undefined
    shown.get(source)?.abort()
    shown.delete(source)
    if (type !== 'user-prompt') return undefined
    const controller = new AbortController()
    shown.set(source, controller)
    // A promise is returned to the caller of observers, which catches a rejection.
    return onPrompt({ text: event.text, source, signal: controller.signal })
  }
}
