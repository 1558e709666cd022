import type { Outcome, ResourceCall } from '../api/call.ts'
import type { ObjectStore } from '../api/object-store.ts'
import { findObject } from '../api/read-objects.ts'
import { methodNotAllowed } from '../api/request-errors.ts'
import { acceptUpgrade, type StreamServer } from './accept-upgrade.ts'
import { FORWARD_PROTOCOLS, forwardPorts, readPorts } from './forward-ports.ts'
import { PodLogs } from './pod-logs.ts'
import { readLog } from './read-log.ts'
import { type CommandContext, echo, runCommand } from './run-command.ts'
import { STREAM_PROTOCOLS, StandardStreams } from './standard-streams.ts'

const SUBRESOURCES = new Set(['log', 'exec', 'attach', 'portforward'])

/** Whether a call is for the log of a pod, or for exec, attach or port-forward. */
export function isPodStream({ info }: ResourceCall): boolean {
  const isPod = info.group === '' && info.version === 'v1' && info.resource === 'pods'
  return isPod && SUBRESOURCES.has(info.subresource ?? '')
}

/** Simulates the containers of pods: logs, echoes and a few commands. */
export class Pods {
  readonly #store: ObjectStore
  readonly #logs = new PodLogs()
  readonly #archives = new Map<string, Buffer>()

  constructor(store: ObjectStore) {
    this.#store = store
  }

  /**
   * Appends a line to the log of a pod.
   *
   * @throws {Error} There is no such pod.
   */
  log(namespace: string, name: string, line: string): void {
    const pod = this.#store.get('pods', namespace, name)
    if (pod === undefined) throw new Error(`no pod "${name}" in namespace "${namespace}"`)
    this.#logs.append(pod.metadata.uid, line)
  }

  /** Answers a log request, or upgrades the connection for exec, attach or port-forward. */
  answer(call: ResourceCall): Outcome {
    const { method, info } = call
    const isLog = info.subresource === 'log'
    if (method !== 'GET' && (isLog || method !== 'POST')) throw methodNotAllowed()
    const pod = findObject(call, this.#store)
    if (isLog) return readLog(call, pod, this.#logs, this.#store)
    return acceptUpgrade(call, this.#streamServer(call, pod.metadata.uid))
  }

  #streamServer({ info, url, user }: ResourceCall, uid: string): StreamServer {
    const query = url.searchParams
    if (info.subresource === 'portforward') {
      const ports = readPorts(query)
      return { protocols: FORWARD_PROTOCOLS, serve: (channels) => forwardPorts(ports, channels) }
    }
    const command = info.subresource === 'exec' ? query.getAll('command') : []
    const context: CommandContext = {
      username: user.username,
      archive: () => this.#archives.get(uid),
      keepArchive: (bytes) => this.#archives.set(uid, bytes),
    }
    return {
      protocols: STREAM_PROTOCOLS,
      serve: (channels) => {
        const streams = new StandardStreams(channels, query)
        if (command.length === 0) echo(streams)
        else runCommand(command, streams, context)
      },
    }
  }
}
