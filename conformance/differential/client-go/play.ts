import { setTimeout as pause } from 'node:timers/promises'
import { type Sandbox, startSandbox } from '../../../packages/sandbox/src/index.ts'
import { type Answer, Credentials } from '../../request-credentials.ts'
import type { Client, Script, Sending } from './script.ts'

const SOME_REFUSED = 'some are refused'
const V1 = 'client.authentication.k8s.io/v1'

/** What was seen at one point of a script. */
export type Seen = Readonly<Record<string, unknown>>

/** One script on its way through one of the clients: its server, its plugin, and what has been seen. */
export class Play {
  readonly sandbox: Sandbox
  readonly credentials: Credentials
  readonly client: Client
  readonly apiVersion: string
  /** What the plugin does; changing it changes the plugin. */
  readonly script = { user: 'jane', stdout: '', exitCode: 0 }
  readonly seen: Seen[] = []
  /** Whether requests were sent at the same time. */
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

  /** A kubeconfig whose plugin does what `script` says. */
  async kubeconfig(exec: object = {}): Promise<string> {
    const plugin = await this.sandbox.plugin(this.script)
    return this.sandbox.writeKubeconfig({
      user: { exec: { ...plugin, apiVersion: this.apiVersion, ...exec } },
    })
  }

  /** Sends, and notes what came of it. */
  async send(sending: Sending = {}): Promise<void> {
    const results = await this.client.send(sending)
    this.#isCrowded ||= results.length > 1
    const outcome = outcomeOf(results)
    this.note({
      results: outcome,
      user: outcome === SOME_REFUSED ? 'any' : (this.sandbox.requests.at(-1)?.user ?? 'nobody'),
      runs: this.sandbox.pluginRuns,
      // How many are opened for requests at the same time is a matter of speed.
      ...(!this.#isCrowded && { connections: this.sandbox.connections.opened }),
    })
  }

  note(seen: Seen): void {
    this.seen.push(seen)
  }

  /** Answers the next request with a 401, whatever it has. */
  refuseOnce(): void {
    this.sandbox.respondWith(() => {
      this.sandbox.respondWith(undefined)
      return { status: 401, body: {} }
    })
  }

  /** Takes something back from the last note that cannot be compared. */
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

/** What became of requests: their status if it is the same. Which of many get in beside a refusal is a matter of luck. */
function outcomeOf(results: readonly (number | 'error')[]): number | string {
  const [first = 'error', ...others] = new Set(results)
  if (results.length === 1) return first
  return others.length === 0 && first !== 401 ? first : SOME_REFUSED
}

/** Plays a script through one client, on a server of its own. */
export async function playScript(
  { server, play }: Script,
  open: (sandbox: Sandbox) => Client,
): Promise<{ readonly seen: readonly Seen[]; readonly trouble: readonly string[] }> {
  // With HTTP/2 one of them would need one connection where the other needs many.
  await using sandbox = await startSandbox({ ...server, http2: false })
  await using client = open(sandbox)
  const played = new Play(sandbox, client)
  await play(played)
  return { seen: played.seen, trouble: client.trouble }
}
