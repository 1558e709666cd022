import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import type { DifferentialCase } from '../command.ts'

const EXEC = {
  apiVersion: 'client.authentication.k8s.io/v1',
  command: 'plugin',
  interactiveMode: 'Never',
}
/** A case with a policy in the default kuberc. */
function judged(
  id: string,
  about: string,
  kuberc: string,
  { mode = 0o600, flag = false } = {},
): DifferentialCase {
  return {
    id,
    about,
    play: (scene) => {
      scene.plugin()
      scene.config({ user: { exec: EXEC } })
      const place = flag ? 'rules' : join('home', '.kube', 'kuberc')
      const file = scene.write(place, kuberc.replaceAll('{folder}', scene.folder))
      chmodSync(file, mode)
      return [{ flags: flag ? ['--kuberc', file] : [] }]
    },
  }
}

const HEAD = 'apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n'

/** The plugin policy in kuberc. */
export const policies: readonly DifferentialCase[] = [
  judged(
    'policy-kuberc-deny',
    'DenyAll in ~/.kube/kuberc',
    `${HEAD}credentialPluginPolicy: DenyAll\n`,
  ),
  judged(
    'policy-kuberc-alpha',
    'a policy in an old version of kuberc',
    `${HEAD.replace('v1beta1', 'v1alpha1')}credentialPluginPolicy: DenyAll\n`,
  ),
  judged(
    'policy-kuberc-alpha-aliases',
    'an old kuberc without a policy',
    `${HEAD.replace('v1beta1', 'v1alpha1')}aliases:\n- {name: g, command: get}\n`,
  ),
  judged(
    'policy-kuberc-aliases',
    'a kuberc without a policy',
    `${HEAD}aliases: []\ndefaults: []\n`,
  ),
  judged(
    'policy-kuberc-two-documents',
    'a kuberc with two documents, the newer one with DenyAll',
    `${HEAD.replace('v1beta1', 'v1alpha1')}aliases: []\n---\n${HEAD}credentialPluginPolicy: DenyAll\n`,
  ),
  judged(
    'policy-kuberc-empty-document',
    'a kuberc whose first document is empty',
    `---\n---\n${HEAD}credentialPluginPolicy: DenyAll\n`,
  ),
  judged(
    'policy-kuberc-future-document',
    'a kuberc with a document of the future before one that is known',
    `${HEAD.replace('v1beta1', 'v9')}---\n${HEAD}credentialPluginPolicy: DenyAll\n`,
  ),
  judged(
    'policy-kuberc-unknown-field',
    'a kuberc with an unknown field',
    `${HEAD}credentialPluginPolicy: AllowAll\nmore: 1\n`,
  ),
  judged('policy-kuberc-broken', '~/.kube/kuberc that is not YAML', 'a: [b\n'),
  judged(
    'policy-kuberc-unknown-kind',
    '~/.kube/kuberc of another kind',
    'apiVersion: v1\nkind: Pod\n',
  ),
  judged('policy-kuberc-empty', '~/.kube/kuberc that is empty', ''),
  judged(
    'policy-kuberc-old-entry',
    'an allowlist with name in place of command',
    `${HEAD}credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist:\n- name: plugin\n`,
  ),
  judged(
    'policy-kuberc-entry-empty',
    'an allowlist with an empty entry',
    `${HEAD}credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist:\n- {}\n`,
  ),
  judged(
    'policy-kuberc-not-clean',
    'an allowlist with a path that can be written shorter',
    `${HEAD}credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist:\n- command: "{folder}//bin/plugin"\n`,
  ),
  judged(
    'policy-kuberc-writable',
    'a kuberc that is writable by everyone',
    `${HEAD}credentialPluginPolicy: AllowAll\n`,
    { mode: 0o666 },
  ),
  judged(
    'policy-flag',
    'DenyAll in the file of --kuberc',
    `${HEAD}credentialPluginPolicy: DenyAll\n`,
    { flag: true },
  ),
  {
    id: 'policy-variable',
    about: 'DenyAll in the file that KUBERC names',
    play: (scene) => {
      scene.plugin()
      scene.config({ user: { exec: EXEC } })
      return [{ env: { KUBERC: scene.write('rules', `${HEAD}credentialPluginPolicy: DenyAll\n`) } }]
    },
  },
  {
    id: 'policy-variable-off',
    about: 'KUBERC=off',
    play: (scene) => {
      scene.plugin()
      scene.config({ user: { exec: EXEC } })
      scene.write(join('home', '.kube', 'kuberc'), `${HEAD}credentialPluginPolicy: DenyAll\n`)
      return [{ env: { KUBERC: 'off' } }]
    },
  },
  {
    id: 'policy-token',
    about: 'DenyAll and a token: no plugin is needed',
    play: (scene) => {
      scene.config({ user: { token: scene.token('jane') } })
      const file = scene.write('rules', `${HEAD}credentialPluginPolicy: DenyAll\n`)
      return [{ flags: ['--kuberc', file] }]
    },
  },
  {
    id: 'policy-invalid-token',
    about: 'an invalid policy and a token',
    play: (scene) => {
      scene.config({ user: { token: scene.token('jane') } })
      const file = scene.write('rules', `${HEAD}credentialPluginPolicy: Perhaps\n`)
      return [{ flags: ['--kuberc', file] }]
    },
  },
]
