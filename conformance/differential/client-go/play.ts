import { setTimeout as pause } from 'node:timers/promises'
import { type Sandbox, startSandbox } from '../../../packages/sandbox/src/index.ts'
import { type Answer, Credentials } from '../../request-credentials.ts'
import type { Client, Script, Sending } from './script.ts'

const SOME_REFUSED = 'some are refused'
const V1 = 'client.authentication.k8s.io/v1'

/** An observation at one point of a script. */
export type Seen = Readonly<Record<string, unknown>>

/** The run of a script with one client: its server, its plugin, and the observations so far. */
export class Play {
  readonly sandbox: Sandbox
  readonly credentials: Credentials
  readonly client: Client
  readonly apiVersion: string
  /** The behaviour of the plugin; changing it changes the plugin. */
  readonly script = { user: 'jane', stdout: '', exitCode: 0 }
  readonly seen: Seen[] = []
  /** Whether requests were sent concurrently. */
  #isCrowded = false

  constructor(sandbox: Sandbox, client: Client, apiVersion = V1) {
    this.sandbox = sandbox
    this.credentials = new Credentials(sandbox)
    this.client = client
    this.apiVersion = apiVersion
  }

  async answer(answer: Answer, apiVersion = this.apiVersion): Promise<void> {
    this.script.stdout = await this.credentials.print(answer, apiVersion)
    this.script.exitCode = answer.exitCode ?? 0
  }

  /** Writes a kubeconfig with the plugin. */
  async kubeconfig(exec: object = {}): Promise<string> {
    const plugin = await this.sandbox.plugin(this.script)
    return this.sandbox.writeKubeconfig({
      user: { exec: { ...plugin, apiVersion: this.apiVersion, ...exec } },
    })
  }

  /** Sends requests, and records the results. */
  async send(sending: Sending = {}): Promise<void> {
    const results = await this.client.send(sending)
    this.#isCrowded ||= results.length > 1
    const outcome = outcomeOf(results)
    this.note({
      results: outcome,
      user: outcome === SOME_REFUSED ? 'any' : (this.sandbox.requests.at(-1)?.user ?? 'none'),
      runs: this.sandbox.pluginRuns,
      // The number of connections of concurrent requests depends on timing.
      ...(!this.#isCrowded && { connections: this.sandbox.connections.opened }),
    })
  }

  note(seen: Seen): void {
    this.seen.push(seen)
  }

  /** Answers the next request with a 401, whatever its credential. */
  refuseOnce(): void {
    this.sandbox.respondWith(() => {
      this.sandbox.respondWith(undefined)
      return { status: 401, body: {} }
    })
  }

  /** Removes a value from the last observation that cannot be compared. */
  forget(...names: readonly string[]): void {
    const last = this.seen.pop() ?? {}
    this.seen.push(
      Object.fromEntries(Object.entries(last).filter(([name]) => !names.includes(name))),
    )
  }

  wait(ms: number): Promise<void> {
    return pause(ms)
  }
}

/** Returns the status of requests if they have the same. Which of several succeed together with a refusal depends on timing. */
function outcomeOf(results: readonly (number | 'error')[]): number | string {
  const [first = 'error', ...others] = new Set(results)
  if (results.length === 1) return first
  return others.length === 0 && first !== 401 ? first : SOME_REFUSED
}

/** Runs a script with one client, on a new server. */
export async function playScript(
  { server, play }: Script,
  open: (sandbox: Sandbox) => Client,
): Promise<{ readonly seen: readonly Seen[]; readonly trouble: readonly string[] }> {
  // HTTP/1.1 only: over HTTP/2 the numbers of connections could not be compared.
  await using sandbox = await startSandbox({ ...server, http2: false })
  await using client = open(sandbox)
  const played = new Play(sandbox, client)
  await play(played)
  return { seen: played.seen, trouble: client.trouble }
}
