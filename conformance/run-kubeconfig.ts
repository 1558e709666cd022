import { expect } from 'vitest'
import type { Connection } from '../packages/core/src/kubeconfig/connection.ts'
import type { Overrides } from '../packages/core/src/kubeconfig/overrides.ts'
import { loadConnection } from '../packages/core/src/node/load-kubeconfig.ts'
import type { CaseHead } from './case.ts'
import { attempt, type ExpectedError, expectFailure, Failure } from './outcome.ts'

/** A user and a cluster entry, and the resulting authentication. Nothing is run. */
export interface KubeconfigCase extends CaseHead {
  readonly kind: 'kubeconfig'
  readonly user?: object
  readonly cluster?: object
  readonly flags?: Overrides
  readonly expect: ExpectedConnection | ExpectedError
}

interface ExpectedConnection {
  /** The kind of authentication. */
  readonly uses?: readonly string[]
  readonly interactiveMode?: string
}

const FILE = '/home/ann/.kube/config'

export async function runKubeconfigCase(given: KubeconfigCase): Promise<void> {
  const outcome = await attempt(() => load(given))
  const { expect: expected } = given
  if ('error' in expected) {
    expectFailure(outcome, expected)
    return
  }
  if (outcome instanceof Failure) throw new Error(`${outcome.code}: ${outcome.message}`)
  const { user } = outcome
  if (expected.uses !== undefined) expect(methodsOf(outcome)).toEqual(expected.uses)
  if (expected.interactiveMode !== undefined) {
    expect(user.exec?.interactiveMode).toBe(expected.interactiveMode)
  }
}

function load({ user = {}, cluster, flags }: KubeconfigCase): Promise<Connection> {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
    clusters: [{ name: 'k', cluster: { server: 'https://k.example', ...cluster } }],
    users: [{ name: 'u', user }],
  }
  return loadConnection({
    kubeconfig: FILE,
    env: {},
    ...(flags && { overrides: flags }),
    readFile: async () => new TextEncoder().encode(JSON.stringify(config)),
  })
}

function methodsOf({ user }: Connection): readonly string[] {
  return Object.keys(user)
    .filter((name) => name !== 'name' && name !== 'impersonate')
    .sort()
}
