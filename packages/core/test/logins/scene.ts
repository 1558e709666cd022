import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Sandbox } from '@kubecred/sandbox'
import { type ConnectOptions, connect } from 'kubecred'
import type { LoginMethodContext } from 'kubecred/logins'
import { type ConnectionInfo, type LoginContext, type LoginLogger, Vault } from 'kubecred/vault'

/** What a handler passes on, in short. */
export const CONTEXT: LoginMethodContext = { signal: new AbortController().signal }

/** A context that keeps what is logged. */
export function loggingContext(): LoginMethodContext & { readonly lines: string[] } {
  const lines: string[] = []
  const log = (line: string): void => void lines.push(line)
  const logger: LoginLogger = { debug: log, info: log, warn: log, error: log }
  return { ...CONTEXT, logger, lines }
}

type Login = (context: LoginContext) => Promise<ConnectionInfo | undefined>

/** Logs in and sends a request. Returns the user that the server saw. */
export async function userOf(
  sandbox: Sandbox,
  login: Login,
  options: ConnectOptions = {},
): Promise<string | undefined> {
  const vault = new Vault({ freezeLimitMs: 5000 }).onLogin(login, { id: 'it', errors: 'permanent' })
  await using cluster = await connect({ vault, ...options })
  await (await cluster.fetch('/api/v1/namespaces')).text()
  return sandbox.requests.at(-1)?.user
}

/** A folder of a program, with what it needs in it. */
export class ProgramFolder implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'kubecred-login-'))
  readonly #main = process.argv[1]

  write(name: string, content: string, mode = 0o600): string {
    const path = join(this.folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content, { mode })
    return path
  }

  /** Writes a kubeconfig; JSON is YAML. */
  kubeconfig(name: string, content: object): string {
    return this.write(name, JSON.stringify(content))
  }

  /** Adds an installed package, under any name. */
  link(name: string, installed = name): void {
    const path = join(this.folder, 'node_modules', name)
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(join(PACKAGES, installed), path, 'junction')
  }

  /** From now on this process looks as if the script were its main one. */
  start(script = 'main.mjs'): void {
    process.argv[1] = join(this.folder, script)
  }

  [Symbol.dispose](): void {
    process.argv[1] = this.#main ?? ''
    rmSync(this.folder, { recursive: true, force: true })
  }
}

const PACKAGES = fileURLToPath(new URL('../../../../node_modules', import.meta.url))

/** A kubeconfig of one context, `here`. */
export function oneContext(cluster: object, user: object, namespace?: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    contexts: [
      { name: 'here', context: { cluster: 'c', user: 'u', ...(namespace && { namespace }) } },
    ],
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
  }
}
