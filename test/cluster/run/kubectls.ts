import { dirname } from 'node:path'
import { debianKubectl } from '../../../packages/cli/test/agent/find-kubectl.ts'
import type { Programs } from '../harness/stage.ts'

/** A kubectl, and how it opens the connections of exec, attach and port-forward. */
export interface Kubectl {
  readonly name: string
  readonly path: string
  readonly env: Readonly<Record<string, string>>
  /** The method of such a connection in the audit log: a WebSocket begins with GET, SPDY with POST. */
  readonly verb: 'get' | 'create'
}

const WITHOUT_WEBSOCKETS = {
  KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false',
  KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false',
}

/** Returns the old kubectl, if it is available. */
const debian = debianKubectl()
export const NEEDS_DEBIAN = 'needs the kubectl of Debian: node tools/debian-kubectl.mjs'
export const hasDebian = debian !== undefined

/** Returns the kubectl of the cluster's version. */
export function newest({ kubectl: path }: Programs): Kubectl {
  return { name: 'the newest kubectl, over WebSockets', path, env: inPath(path), verb: 'get' }
}

/** Returns the kubectl of the cluster's version, configured to use SPDY as before 1.31. */
export function newestWithSpdy({ kubectl: path }: Programs): Kubectl {
  const env = { ...inPath(path), ...WITHOUT_WEBSOCKETS }
  return { name: 'the newest kubectl, over SPDY', path, env, verb: 'create' }
}

/** Returns a kubectl that only supports SPDY. */
export function old(): Kubectl {
  const { path = '', version = '' } = debian ?? {}
  return { name: `Debian's kubectl ${version}`, path, env: inPath(path), verb: 'create' }
}

function inPath(path: string): Record<string, string> {
  return { PATH: `${dirname(path)}:${process.env['PATH']}` }
}
