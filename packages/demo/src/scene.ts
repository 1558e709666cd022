import { accessSync, constants, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import process from 'node:process'
import type { Environment } from '@kubecred/cli/internal'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, connect, type Observer } from 'kubecred'
import { CONFIG_MAPS, type DemoUser } from './demo-user.ts'
import { markFolder } from './leftovers.ts'
import type { Pacing } from './pacing.ts'
import { createJane, createRobot } from './plugin-users.ts'
import { createKimWithProcess, createKimWithToken, type SignerUser } from './signer-user.ts'
import { findTokenTools } from './soft-token.ts'
import { StartError } from './start-error.ts'
import type { ConnectedUser } from './summary.ts'

/** What a scene needs. */
export interface SceneOptions {
  readonly env: Environment
  readonly pacing: Pacing
  readonly observerFor: (user: DemoUser) => Observer
  /** Called with a sentence about anything that could not be set up. */
  readonly onProblem: (sentence: string) => void
  /** Aborts the start. */
  readonly signal: AbortSignal
}

/** The API server of the demo and its users. */
export class Scene {
  readonly sandbox: Sandbox
  readonly users: ConnectedUser[] = []
  readonly #options: SceneOptions
  readonly #removeFolder: () => void
  #kim: { readonly connection: ConnectedUser; readonly close: () => Promise<void> } | undefined

  private constructor(sandbox: Sandbox, options: SceneOptions) {
    this.sandbox = sandbox
    this.#options = options
    // In case the process exits before close(): on a second Ctrl-C.
    this.#removeFolder = () => rmSync(sandbox.folder, { recursive: true, force: true })
    process.once('exit', this.#removeFolder)
  }

  /**
   * Starts the API server and connects the users.
   *
   * @throws {StartError} The server cannot start.
   */
  static async start(options: SceneOptions): Promise<Scene> {
    const sandbox = await startServer()
    const scene = new Scene(sandbox, options)
    try {
      markFolder(sandbox.folder)
      await scene.#addUsers()
      return scene
    } catch (error) {
      await scene.close()
      throw error
    }
  }

  /** Closes the connections and the server, and removes its folder. */
  async close(): Promise<void> {
    const all = new Set([...this.users, ...(this.#kim === undefined ? [] : [this.#kim.connection])])
    await Promise.all(Array.from(all, ({ cluster }) => cluster.close()))
    await this.#kim?.close()
    await this.sandbox.close()
    process.removeListener('exit', this.#removeFolder)
  }

  async #addUsers(): Promise<void> {
    const { sandbox } = this
    const { env, pacing } = this.#options
    // Started first, because creating a token takes longest; other processes do it.
    const kim = this.#addKim()
    try {
      await createObjects(sandbox)
      for (const make of [createJane, createRobot]) {
        const user = await make(sandbox, env, pacing)
        this.users.push({ user, cluster: await this.#connect(user) })
      }
    } finally {
      await kim
    }
    if (this.#kim !== undefined) this.users.push(this.#kim.connection)
  }

  /** Connects Kim, with a token if possible. The demo also runs without Kim. */
  async #addKim(): Promise<void> {
    const { env, pacing, onProblem, signal } = this.#options
    const tools = findTokenTools(env)
    if (typeof tools === 'string') {
      onProblem(`kim's key is in another process instead of a token: ${tools}.`)
    } else {
      const failure = await this.#tryKim(() => createKimWithToken(this.sandbox, tools, env, pacing))
      if (failure === undefined || signal.aborted) return
      onProblem(`kim's key is in another process instead of a token: ${failure}.`)
    }
    const failure = await this.#tryKim(() => createKimWithProcess(this.sandbox, env, pacing))
    if (failure !== undefined && !signal.aborted)
      onProblem(`kim, whose key is in a signer, is missing: ${failure}.`)
  }

  /** Connects Kim. @returns The reason if that failed, else undefined. */
  async #tryKim(make: () => Promise<SignerUser>): Promise<string | undefined> {
    let kim: SignerUser | undefined
    let cluster: Cluster | undefined
    try {
      kim = await make()
      cluster = await this.#connect(kim.user)
      // Requests the certificate from the signer, so that a broken signer is found now.
      await cluster.credential({ signal: this.#options.signal })
      this.#kim = { connection: { user: kim.user, cluster }, close: kim.close }
      return undefined
    } catch (error) {
      await cluster?.close()
      await kim?.close()
      return messageOf(error).replace(/\.$/, '')
    }
  }

  #connect(user: DemoUser): Promise<Cluster> {
    const { kubeconfig, env } = user
    return connect({
      kubeconfig,
      env,
      observer: this.#options.observerFor(user),
      stdinUnavailable: 'used by the demo',
    })
  }
}

async function startServer(): Promise<Sandbox> {
  try {
    // First, because after a later failure the server would still listen.
    accessSync(tmpdir(), constants.W_OK | constants.X_OK)
    return await startSandbox()
  } catch (cause) {
    throw new StartError(`the demo's API server cannot start: ${messageOf(cause)}`, { cause })
  }
}

/** Creates the config map that users read and watch. */
async function createObjects(sandbox: Sandbox): Promise<void> {
  const { token } = sandbox.issueToken({ user: 'admin', lifetimeMs: 60_000 })
  const admin = await connect({
    server: sandbox.url,
    token,
    kubeconfig: sandbox.writeKubeconfig({ user: { token } }),
    env: {},
    transport: 'https',
  })
  try {
    await admin.fetch(CONFIG_MAPS, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ metadata: { name: 'heartbeat' }, data: { beat: '0' } }),
    })
  } finally {
    await admin.close()
  }
}

function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.replace(/\s*\n\s*/g, ' ')
}
