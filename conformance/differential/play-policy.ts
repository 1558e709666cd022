import { join } from 'node:path'
import type { PolicyCase } from '../run-policy.ts'
import type { Command } from './command.ts'
import type { Scene } from './scene.ts'

type Named = PolicyCase['plugins'][number]

/** As many commands as the longest list has entries: each policy, allowlist and plugin is used at least once. */
export function playPolicy(given: PolicyCase, scene: Scene): readonly Command[] {
  const { policies, allowlists, plugins } = given
  scene.plugin('plugin')
  scene.plugin('other')
  const longest = Math.max(policies.length, allowlists.length, plugins.length)
  return Array.from({ length: longest }, (_, nth) => {
    const turn = <T>(list: readonly T[]): T => list[nth % list.length] as T
    const entries = turn(allowlists)?.map((entry) => ({ command: commandOf(entry, scene) }))
    const kuberc = scene.write(
      `kuberc-${nth}`,
      JSON.stringify({
        apiVersion: 'kubectl.config.k8s.io/v1beta1',
        kind: 'Preference',
        credentialPluginPolicy: turn(policies),
        credentialPluginAllowlist: entries,
      }),
    )
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: commandOf(turn(plugins), scene),
      interactiveMode: 'Never',
    }
    const config = scene.config({ user: { exec } }, `config-${nth}`)
    return { flags: ['--kuberc', kuberc, '--kubeconfig', config] }
  })
}

function commandOf(named: Named, { folder }: Scene): string {
  switch (named) {
    case 'present path':
      return join(folder, 'bin/plugin')
    case 'present name':
      return 'plugin'
    case 'missing path':
      return join(folder, 'bin/absent-plugin')
    case 'missing name':
      return 'absent-plugin'
    case 'other path':
      return join(folder, 'bin/other')
  }
}
