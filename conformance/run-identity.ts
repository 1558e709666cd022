import { expect } from 'vitest'
import { connect } from '../packages/core/src/index.ts'
import { type PluginCommand, type Sandbox, startSandbox } from '../packages/sandbox/src/index.ts'
import type { CaseHead } from './case.ts'

/** Two connections to one server through one plugin: do they share a credential, and with it the runs and sockets? */
export interface IdentityCase extends CaseHead {
  readonly kind: 'identity'
  readonly first: Side
  readonly second: Side
  readonly expect: { readonly shared: boolean }
}

interface Side {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly provideClusterInfo?: boolean
  /** The cluster extension for plugins. */
  readonly extension?: unknown
  readonly stdinUnavailable?: string
}

export async function runIdentityCase({
  first,
  second,
  expect: expected,
}: IdentityCase): Promise<void> {
  await using sandbox = await startSandbox()
  // A certificate, because only certificates bind a credential to its connections.
  const plugin = await sandbox.plugin({ user: 'jane', credential: 'certificate' })
  await using one = await open(sandbox, plugin, first)
  await using two = await open(sandbox, plugin, second)
  for (const cluster of [one, two]) {
    const response = await cluster.fetch('/api/v1/namespaces')
    expect(response.status).toBe(200)
    await response.text()
    // A connection is free one turn of the event loop after the end of the body.
    await new Promise(setImmediate)
  }
  const times = expected.shared ? 1 : 2
  expect({ runs: sandbox.pluginRuns, connections: sandbox.connections.opened }).toEqual({
    runs: times,
    connections: times,
  })
}

function open(sandbox: Sandbox, plugin: PluginCommand, side: Side) {
  const { args = [], env = {}, provideClusterInfo = false, extension, stdinUnavailable } = side
  const kubeconfig = sandbox.writeKubeconfig({
    user: {
      exec: {
        command: plugin.command,
        args: [...plugin.args, ...args],
        env: { ...plugin.env, ...env },
        provideClusterInfo,
      },
    },
    ...(extension !== undefined && { extension }),
  })
  return connect({
    kubeconfig,
    env: { HOME: sandbox.folder },
    ...(stdinUnavailable !== undefined && { stdinUnavailable }),
  })
}
