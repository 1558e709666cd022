import fc from 'fast-check'
import { expect } from 'vitest'
import { openKeeper } from '../packages/core/src/connect/open-keeper.ts'
import { loadConnection } from '../packages/core/src/node/load-kubeconfig.ts'
import { type PluginCommand, type Sandbox, startSandbox } from '../packages/sandbox/src/index.ts'
import type { CaseHead } from './case.ts'

/** Random cluster entries, which must reach the plugin complete. */
export interface RoundTripCase extends CaseHead {
  readonly kind: 'round-trip'
  readonly way: 'entry to plugin' | 'plugin to entry to plugin'
  readonly runs: number
}

type ClusterFields = Readonly<Record<string, unknown>>

export async function runRoundTripCase({ way, runs }: RoundTripCase): Promise<void> {
  await using sandbox = await startSandbox()
  const plugin = await sandbox.plugin({ user: 'jane' })
  await fc.assert(
    fc.asyncProperty(anyCluster(sandbox), async (cluster) => {
      const seen = await seenByPlugin(sandbox, plugin, cluster)
      expect(seen).toEqual(cluster)
      if (way === 'plugin to entry to plugin') {
        expect(await seenByPlugin(sandbox, plugin, seen)).toEqual(seen)
      }
    }),
    { numRuns: runs },
  )
}

/** The fields of `spec.cluster`; a kubeconfig's cluster entry has the same names, except for `config`. */
function anyCluster(sandbox: Sandbox): fc.Arbitrary<ClusterFields> {
  const ca = Buffer.from(sandbox.caPem).toString('base64')
  const trust = fc.constantFrom<ClusterFields>(
    {},
    { 'insecure-skip-tls-verify': true },
    { 'certificate-authority-data': ca },
  )
  const fields = fc.record(
    {
      'tls-server-name': fc.domain(),
      'proxy-url': fc.constantFrom('http://p:3128', 'https://u:w@p', 'socks5://p:1080'),
      'disable-compression': fc.constant(true),
    },
    { requiredKeys: [] },
  )
  const server = fc.webUrl({ validSchemes: ['https'], withQueryParameters: false })
  const config = fc.option(fc.jsonValue().filter((value) => value !== null))
  return fc.tuple(server, fields, trust, config).map(([url, some, trusted, extension]) => ({
    ...some,
    ...trusted,
    server: normal(url),
    config: plain(extension),
  }))
}

/** URLs are normalised. */
function normal(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname.replace(/\/+$/, '')
}

/** JSON has no negative zero. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

async function seenByPlugin(
  sandbox: Sandbox,
  { command, args, env }: PluginCommand,
  { config, ...fields }: ClusterFields,
): Promise<ClusterFields> {
  const extensions = [{ name: 'client.authentication.k8s.io/exec', extension: config }]
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command,
    args,
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
    interactiveMode: 'Never',
    provideClusterInfo: true,
  }
  const kubeconfig = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
    clusters: [{ name: 'k', cluster: { ...fields, ...(config !== null && { extensions }) } }],
    users: [{ name: 'u', user: { exec } }],
  }
  const connection = await loadConnection({
    kubeconfig: '/kubeconfig',
    env: {},
    readFile: async () => new TextEncoder().encode(JSON.stringify(kubeconfig)),
  })
  const ca = fields['certificate-authority-data'] === undefined ? undefined : sandbox.caPem
  const { keeper, release } = await openKeeper(connection, ca, { env: { HOME: sandbox.folder } })
  await keeper.lease()
  await release()
  const info = sandbox.pluginExecInfos.at(-1) as { spec: { cluster: ClusterFields } }
  return info.spec.cluster
}
