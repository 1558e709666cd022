import type { IncomingHttpHeaders } from 'node:http'
import type { Command } from './command.ts'
import { classify, type OutcomeClass } from './outcome-class.ts'
import type { SeenRun } from './recording-plugin.ts'
import type { Scene, SeenRequest } from './scene.ts'
import { environmentOf, type Program, typeCommand } from './type-command.ts'

/** Everything that is compared; the names are those of differences.json. */
export interface Observation {
  readonly outcome: OutcomeClass
  /** What the server saw. */
  readonly requests: readonly Request[]
  /** The names in the TLS greetings, and what proxies were asked for. */
  readonly connections: readonly string[]
  /** How often plugins ran. */
  readonly runs: number
  /** What they saw. */
  readonly told: readonly SeenRun[]
  /** Whether the words were shown that might be. */
  readonly shown: boolean
  /** What it printed, for people who look into a difference; not compared. */
  readonly said: string
}

interface Request {
  readonly method: string
  readonly path: string
  readonly status: number | undefined
  readonly user: string | undefined
  readonly certificate: string | undefined
  readonly headers: Readonly<Record<string, unknown>>
}

/** Headers that say which program it is and how it transports, which is not what is compared. */
const TRANSPORT =
  /^(:.*|accept|accept-encoding|user-agent|host|connection|content-length|transfer-encoding|kubectl-.*)$/

/** Types a command for one program and notes what everybody saw. */
export async function observe(
  program: Program,
  command: Command,
  scene: Scene,
): Promise<Observation> {
  for (const plugin of scene.plugins) plugin.reset()
  command.before?.()
  const { mark } = scene
  const ended = await typeCommand(program, command, scene)
  const { requests, connections, tunnels } = scene.since(mark)
  const env = environmentOf(command, scene)
  const told = scene.plugins.flatMap((plugin) => plugin.runs(env))
  const names = connections.map(({ beginning }) => beginning)
  const text = `${ended.stdout}${ended.stderr}`
  return scene.plain({
    outcome: classify(program, ended, requests.at(-1)?.record.status),
    requests: requests.map(describeRequest),
    // A broken handshake may be tried again; what it shows is the same.
    connections: [...new Set([...names, ...tunnels.map((line) => `tunnel to ${line}`)])],
    runs: told.length,
    told: told.slice(0, 1),
    shown: command.mayShow !== undefined && text.includes(command.mayShow),
    said: text,
  })
}

function describeRequest({ record, headers }: SeenRequest): Request {
  return {
    method: record.method,
    path: record.path,
    status: record.status,
    user: record.user,
    certificate: record.hasClientCertificate ? (record.certificateUser ?? 'unknown') : undefined,
    headers: relevant(headers),
  }
}

function relevant(headers: IncomingHttpHeaders): Readonly<Record<string, unknown>> {
  const names = Object.keys(headers).filter((name) => !TRANSPORT.test(name))
  return Object.fromEntries(names.sort().map((name) => [name, headers[name]]))
}
