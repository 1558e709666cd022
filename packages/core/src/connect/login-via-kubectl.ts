import { resolve } from 'node:path'
import process from 'node:process'
import { KubeconfigEmptyError } from '../errors/index.ts'
import { connectTo } from '../kubeconfig/build-connection.ts'
import { selectEntries } from '../kubeconfig/select-entries.ts'
import { type Environment, hostEnvironment } from '../node/host-environment.ts'
import type { ConnectionInfo } from '../vault/connection-info.ts'
import { checkNames } from './known-names.ts'
import { NODE_PATHS } from './kube-config/node-paths.ts'
import { readKubectlConfig } from './kubectl-config.ts'
import { withOrigins } from './kubectl-origins.ts'
import { infoOf, type ReadyMadeContext, type ReadyMadeOptions } from './ready-made-login.ts'

export interface KubectlLoginOptions extends ReadyMadeOptions {
  /** The program to ask: a name to look up in PATH, or a path. `kubectl` unless told. */
  readonly command?: string | undefined
  /** The context to use in place of the current one. */
  readonly context?: string | undefined
  /** The file to use in place of those that kubectl finds by itself. */
  readonly kubeconfig?: string | undefined
  /** What kubectl sees, and where it is looked up; the environment of the process unless given. */
  readonly env?: Environment | undefined
  /** How long kubectl may take: 60 s. */
  readonly timeoutMs?: number | undefined
  /** 10 unless told. */
  readonly priority?: number | undefined
}

const OPTIONS = Object.keys({
  command: true,
  context: true,
  kubeconfig: true,
  env: true,
  timeoutMs: true,
  priority: true,
  trustEnv: true,
} satisfies Record<keyof KubectlLoginOptions, true>)

const TIMEOUT_MS = 60_000
/** The longest a timer of Node can wait. */
const LONGEST_MS = 2_147_483_647

/**
 * Logs in as an installed kubectl would. It only tells its configuration: plugins run our way, under our policy.
 *
 * @returns Undefined when there is no kubectl, or it has no current context.
 * @throws {LoginToolError} When it does not answer, or with something else than a kubeconfig.
 */
export async function loginViaKubectl(
  context: ReadyMadeContext,
  options: KubectlLoginOptions = {},
): Promise<ConnectionInfo | undefined> {
  checkNames(options, 'loginViaKubectl()', OPTIONS)
  const { command = 'kubectl', env = hostEnvironment(), timeoutMs = TIMEOUT_MS } = options
  if (!(Number.isSafeInteger(timeoutMs) && timeoutMs > 0 && timeoutMs <= LONGEST_MS)) {
    throw new TypeError(`timeoutMs must be a whole number above 0, got ${String(timeoutMs)}`)
  }
  const { signal, logger } = context
  signal.throwIfAborted()
  const cwd = process.cwd()
  const kubeconfig = options.kubeconfig ? resolve(cwd, options.kubeconfig) : undefined
  const warn = (message: string): void => logger?.warn(message)
  const config = await readKubectlConfig({ command, kubeconfig, env, timeoutMs, signal, warn })
  if (config === undefined) return undefined
  const overrides = { context: options.context }
  try {
    const selection = selectEntries(config, overrides, `${command} has no configuration`)
    const completed = await withOrigins(selection, { command, kubeconfig, env, cwd })
    const connection = connectTo(completed, overrides, { paths: NODE_PATHS, cwd })
    const { priority = 10, trustEnv } = options
    return infoOf(connection, context, { priority, trustEnv })
  } catch (error) {
    if (error instanceof KubeconfigEmptyError && kubeconfig === undefined) return undefined
    throw error
  }
}
