import { checkOptionNames } from '../errors/option-names.ts'
import { OVERRIDE_NAMES, type Overrides } from '../kubeconfig/overrides.ts'
import type { Observer, SourceLabel } from '../ports/observer.ts'
import type { Vault } from '../vault/vault.ts'

/** Limits and rules. Every one has a safe default. */
export interface ConnectPolicy {
  /** Statuses that mean "this credential is not accepted": 401, and 403 where a server says that instead. */
  readonly refreshOn?: readonly number[]
  /** Names of environment variables that plugins may see; all when undefined. */
  readonly pluginEnv?: readonly string[]
  /** Folders to look for plugins in before PATH, for programs that do not have the shell's PATH. */
  readonly pluginFolders?: readonly string[]
  /** How long a plugin may take: 60 s. */
  readonly pluginTimeoutMs?: number
  /** How long a plugin may take when it asks a person: 10 min. */
  readonly interactiveTimeoutMs?: number
  /** How much a plugin may print to standard output: 1 MiB. */
  readonly pluginOutputBytes?: number
  /** How many plugins may run at once in this process: 8. It counts for the whole process. */
  readonly pluginLimit?: number
  /** How long a signer that stays is kept without a request: 10 min. Its PIN must then be given again. */
  readonly signerIdleMs?: number
  /** Refuses plugins that every user of the machine could replace; the default is a warning. */
  readonly refuseWritablePlugins?: boolean
  /** The kind v1alpha1 plugins find in their input; `ExecInfo` is the first proposal's. */
  readonly v1alpha1Kind?: 'ExecCredential' | 'ExecInfo'
  /** First pause after a failed run or a refused credential: 1 s, then doubling. */
  readonly backoffFirstMs?: number
  /** Longest pause: 5 min. */
  readonly backoffLimitMs?: number
  /** Short requests at once per identity and server: 64. */
  readonly requestLimit?: number
  /** Watches and other long responses at once per identity and server: 1,000. */
  readonly streamLimit?: number
  /**
   * How long requests and watches in flight may go on after the certificate, key or CA of their connection was
   * replaced: no limit. 0 ends them at once, as client-go does.
   */
  readonly drainLimitMs?: number
}

/** What `connect()` takes; names as kubectl's flags have them. */
export interface ConnectOptions extends Overrides {
  /** Login handlers, in place of a kubeconfig. */
  readonly vault?: Vault | undefined
  /**
   * Explicit files, which must exist. Without them KUBECONFIG, `~/.kube/config` or the pod's service account; with an
   * empty list no kubeconfig is read.
   */
  readonly kubeconfig?: string | readonly string[] | undefined
  /** kubectl's preferences with the plugin policy; KUBERC or `~/.kube/kuberc` unless given. */
  readonly kuberc?: string | undefined
  /** Ends the connection when aborted. */
  readonly signal?: AbortSignal | undefined
  readonly policy?: ConnectPolicy | undefined
  /** Told what happens, without secrets. */
  readonly observer?: Observer | undefined
  /**
   * Shows what a signer wants of the person, such as to touch the device, until the prompt's signal is aborted.
   * Observers are told the same.
   */
  readonly onPrompt?: ((prompt: UserPrompt) => void) | undefined
  /** Set when the program reads standard input itself, saying what for: then no plugin may ask a person. */
  readonly stdinUnavailable?: string | undefined
  /**
   * Writes refreshed tokens of an auth-provider `oidc` into the kubeconfig they came from, as kubectl does.
   * The default is false: then the file is only read.
   */
  readonly saveOidcTokens?: boolean | undefined
  /**
   * `https` uses Node's own client: it loads faster and keeps fewer connections, for programs with a few requests.
   * `http2` sends everything over one connection, or a few: for many watches, far servers and slow signing keys.
   * The default is `pool`, under Bun `https`; keys that only sign use HTTP/2.
   */
  readonly transport?: 'pool' | 'https' | 'http2' | undefined
  /** The environment to use in place of the process's own. */
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

/** Overrides that hold for every login. All others say what a login handler says: beside a vault they have no effect. */
const BESIDE_VAULT: readonly (keyof Overrides)[] = [
  'disableCompression',
  'as',
  'asUid',
  'asGroups',
  'asUserExtra',
]
const NOT_BESIDE_VAULT = [
  'kubeconfig' as const,
  ...OVERRIDE_NAMES.filter((name) => !BESIDE_VAULT.includes(name)),
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

/** The longest a timer of Node can wait; beyond it, it would not wait at all. */
const LONGEST_MS = 2_147_483_647

/**
 * Checks what a program without types gets wrong: an option that nobody reads is a wish that is not met.
 *
 * @throws {TypeError}
 */
export function checkOptions(options: ConnectOptions): void {
  checkOptionNames(options, 'connect()', OPTIONS)
  const { transport, policy } = options
  if (!TRANSPORTS.includes(transport)) {
    throw new TypeError(`transport must be 'pool', 'https' or 'http2', got ${String(transport)}`)
  }
  const useless = NOT_BESIDE_VAULT.find((name) => options[name] !== undefined)
  if (options.vault !== undefined && useless !== undefined) {
    throw new TypeError(
      `${useless} says nothing beside a vault: let a login handler return it, or use loginWithKubeconfig`,
    )
  }
  checkPolicy(policy ?? {})
}

/** Checks what types alone cannot: a limit nobody can reach is no limit. */
export function checkPolicy(policy: ConnectPolicy): void {
  checkOptionNames(policy, 'policy', POLICY)
  for (const name of COUNTS) {
    const value = policy[name]
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0)) {
      throw new TypeError(`policy.${name} must be a whole number above 0, got ${String(value)}`)
    }
    if (name.endsWith('Ms') && value !== undefined && value > LONGEST_MS) {
      throw new TypeError(`policy.${name} must be at most ${LONGEST_MS}, got ${String(value)}`)
    }
  }
  const { drainLimitMs = 0 } = policy
  if (!(Number.isSafeInteger(drainLimitMs) && drainLimitMs >= 0 && drainLimitMs <= LONGEST_MS)) {
    throw new TypeError(
      `policy.drainLimitMs must be a whole number from 0 to ${LONGEST_MS}, got ${String(drainLimitMs)}`,
    )
  }
  for (const status of policy.refreshOn ?? []) {
    if (status !== 401 && status !== 403) {
      throw new TypeError(`policy.refreshOn takes 401 and 403, got ${String(status)}`)
    }
  }
}

/** What a signer wants of the person in front of it. */
export interface UserPrompt {
  /** One line, without control characters or anything secret. */
  readonly text: string
  readonly source: SourceLabel
  /** Aborted when it is done, or will not be done any more: then the text can go. */
  readonly signal: AbortSignal
}

/** Makes an observer that shows prompts, each until it is over or the next one takes its place. */
export function promptObserver(onPrompt: (prompt: UserPrompt) => void): Observer {
  const shown = new Map<SourceLabel, AbortController>()
  return (event) => {
    const { source, type } = event
    const isOver = type === 'user-prompt' || type === 'prompt-ended' || type === 'released'
    if (!isOver) return undefined
    shown.get(source)?.abort()
    shown.delete(source)
    if (type !== 'user-prompt') return undefined
    const controller = new AbortController()
    shown.set(source, controller)
    // Its promise, if it is one, goes to who calls observers: a rejection must not end the process.
    return onPrompt({ text: event.text, source, signal: controller.signal })
  }
}
