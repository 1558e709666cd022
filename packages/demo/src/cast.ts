import { accessSync, constants, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import process from 'node:process'
import type { Environment } from '@kubecred/cli/internal'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, connect, type Observer } from 'kubecred'
import { type Character, CONFIG_MAPS } from './character.ts'
import { makeJane, makeRobot } from './characters.ts'
import { type Kim, makeKimWithProcess, makeKimWithToken } from './kim.ts'
import { markFolder } from './leftovers.ts'
import type { Rhythm } from './rhythm.ts'
import { findTokenTools } from './soft-token.ts'
import { StartError } from './start-error.ts'
import type { Player } from './summary.ts'

export interface CastOptions {
  readonly env: Environment
  readonly rhythm: Rhythm
  readonly observerFor: (character: Character) => Observer
  /** Told what cannot be had, and why. */
  readonly onProblem: (sentence: string) => void
  /** Whoever wants it to end while it begins. */
  readonly signal: AbortSignal
}

/** Everybody in the demo, and the cluster they are in. */
export class Cast {
  readonly sandbox: Sandbox
  readonly players: Player[] = []
  readonly #options: CastOptions
  readonly #removeFolder: () => void
  #kim: { readonly player: Player; readonly close: () => Promise<void> } | undefined

  private constructor(sandbox: Sandbox, options: CastOptions) {
    this.sandbox = sandbox
    this.#options = options
    // For those who press Ctrl-C twice.
    this.#removeFolder = () => rmSync(sandbox.folder, { recursive: true, force: true })
    process.once('exit', this.#removeFolder)
  }

  /** Starts the cluster and lets everybody come. @throws {Error} Names what could not be started. */
  static async gather(options: CastOptions): Promise<Cast> {
    const sandbox = await startServer()
    const cast = new Cast(sandbox, options)
    try {
      markFolder(sandbox.folder)
      await cast.#fill()
      return cast
    } catch (error) {
      await cast.close()
      throw error
    }
  }

  /** Ends everything and removes the folder. */
  async close(): Promise<void> {
    const all = new Set([...this.players, ...(this.#kim === undefined ? [] : [this.#kim.player])])
    await Promise.all(Array.from(all, ({ cluster }) => cluster.close()))
    await this.#kim?.close()
    await this.sandbox.close()
    process.removeListener('exit', this.#removeFolder)
  }

  async #fill(): Promise<void> {
    const { sandbox } = this
    const { env, rhythm } = this.#options
    // A token takes longest to make, and is made by other processes.
    const kim = this.#inviteKim()
    try {
      await prepare(sandbox)
      for (const make of [makeJane, makeRobot]) {
        const character = await make(sandbox, env, rhythm)
        this.players.push({ character, cluster: await this.#connect(character) })
      }
    } finally {
      await kim
    }
    if (this.#kim !== undefined) this.players.push(this.#kim.player)
  }

  /** Without Kim the demo goes on. */
  async #inviteKim(): Promise<void> {
    const { env, rhythm, onProblem, signal } = this.#options
    const tools = findTokenTools(env)
    if (typeof tools === 'string') {
      onProblem(`kim's key is in a process and not in a token: ${tools}.`)
    } else {
      const why = await this.#tryKim(() => makeKimWithToken(this.sandbox, tools, env, rhythm))
      if (why === undefined || signal.aborted) return
      onProblem(`kim's key is in a process and not in a token: ${why}.`)
    }
    const why = await this.#tryKim(() => makeKimWithProcess(this.sandbox, env, rhythm))
    if (why !== undefined && !signal.aborted)
      onProblem(`kim, who has a signer, cannot come: ${why}.`)
  }

  /** @returns Why it does not work; undefined when it does. */
  async #tryKim(make: () => Promise<Kim>): Promise<string | undefined> {
    let kim: Kim | undefined
    let cluster: Cluster | undefined
    try {
      kim = await make()
      cluster = await this.#connect(kim.character)
      // Asks the signer for its certificate: now is the time to hear that it cannot give one.
      await cluster.credential({ signal: this.#options.signal })
      this.#kim = { player: { character: kim.character, cluster }, close: kim.close }
      return undefined
    } catch (error) {
      await cluster?.close()
      await kim?.close()
      return messageOf(error).replace(/\.$/, '')
    }
  }

  #connect(character: Character): Promise<Cluster> {
    const { kubeconfig, env } = character
    return connect({
      kubeconfig,
      env,
      observer: this.#options.observerFor(character),
      stdinUnavailable: 'used by the demo',
    })
  }
}

async function startServer(): Promise<Sandbox> {
  try {
    // First, because a server that listens already could not be ended.
    accessSync(tmpdir(), constants.W_OK | constants.X_OK)
    return await startSandbox()
  } catch (cause) {
    throw new StartError(`the demo's API server cannot start: ${messageOf(cause)}`, { cause })
  }
}

/** Puts something into the cluster that can be seen. */
async function prepare(sandbox: Sandbox): Promise<void> {
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
