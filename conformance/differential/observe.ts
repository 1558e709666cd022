import type { IncomingHttpHeaders } from 'node:http'
import type { Command } from './command.ts'
import { classify, type OutcomeClass } from './outcome-class.ts'
import type { SeenRun } from './recording-plugin.ts'
import type { Scene, SeenRequest } from './scene.ts'
import { environmentOf, type Program, typeCommand } from './type-command.ts'

/** Everything that is compared; the names are those of differences.json. */
export interface Observation {
  readonly outcome: OutcomeClass
  /** The requests that the server received. */
  readonly requests: readonly Request[]
  /** The server names in ClientHellos, and the requests to proxies. */
  readonly connections: readonly string[]
  /** How often plugins ran. */
  readonly runs: number
  /** The arguments, environment and standard input of the first run. */
  readonly input: readonly SeenRun[]
  /** Which of the looked-for texts were shown. */
  readonly shown: boolean
  /** The output, for the analysis of a difference; not compared. */
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

/** Headers that identify the program or the transport, which are not compared. */
const TRANSPORT =
  /^(:.*|accept|accept-encoding|user-agent|host|connection|content-length|transfer-encoding|kubectl-.*)$/

/** Runs a command with one program and returns what server, proxies and plugins observed. */
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
  const input = scene.plugins.flatMap((plugin) => plugin.runs(env))
  const names = connections.map(({ beginning }) => beginning)
  const text = `${ended.stdout}${ended.stderr}`
  return scene.plain({
    outcome: classify(program, ended, requests.at(-1)?.record.status),
    requests: requests.map(describeRequest),
    // A failed handshake may be retried; duplicates are removed.
    connections: [...new Set([...names, ...tunnels.map((line) => `tunnel to ${line}`)])],
    runs: input.length,
    input: input.slice(0, 1),
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
