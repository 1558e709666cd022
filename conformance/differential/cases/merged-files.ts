import type { DifferentialCase } from '../command.ts'
import { CLUSTER, CONTEXT, filled, PLAIN, USER } from './kubeconfig-text.ts'

/** Two files in KUBECONFIG. */
function merging(
  id: string,
  about: string,
  first: string,
  second: string,
  path = '{folder}/one:{folder}/two',
): DifferentialCase {
  return {
    id,
    about,
    play: (scene) => {
      scene.write('one', filled(first, scene))
      scene.write('two', filled(second, scene))
      return [{ env: { KUBECONFIG: path.replaceAll('{folder}', scene.folder) } }]
    },
  }
}

const OTHER_USER = USER.replace('{{token}}', '{{other token}}')

/** Several files in KUBECONFIG. */
export const mergedFiles: readonly DifferentialCase[] = [
  merging(
    'merge-parts',
    'clusters in one file, users and contexts in the other',
    `clusters:\n${CLUSTER}`,
    `current-context: here\ncontexts:\n${CONTEXT}users:\n${USER}`,
  ),
  merging(
    'merge-same-name',
    'a user of the same name in both files',
    `users:\n${OTHER_USER}`,
    PLAIN,
  ),
  merging(
    'merge-current-context',
    'current-context in both files',
    'current-context: absent\n',
    PLAIN,
  ),
  merging(
    'merge-missing',
    'KUBECONFIG with a file that does not exist',
    PLAIN,
    '',
    '{folder}/no:{folder}/one',
  ),
  merging('merge-broken', 'KUBECONFIG with a file that is broken', PLAIN, 'a: [b\n'),
  merging('merge-empty-element', 'KUBECONFIG with empty elements', PLAIN, '', ':{folder}/one:'),
  {
    id: 'merge-relative',
    about: 'relative paths start at the file they stand in',
    play: (scene) => {
      scene.write('deep/token', scene.token('jane'))
      const both = [
        scene.write('one', filled(`clusters:\n${CLUSTER}contexts:\n${CONTEXT}`, scene)),
        scene.write(
          'deep/two',
          'current-context: here\nusers:\n- name: u\n  user: {tokenFile: token}\n',
        ),
      ]
      return [{ env: { KUBECONFIG: both.join(':') } }]
    },
  },
]
