import type { DifferentialCase } from '../command.ts'
import { PLAIN, reading } from './kubeconfig-text.ts'

/** Which entries are selected from the files, and what happens if there are none. */
export const contexts: readonly DifferentialCase[] = [
  reading('context-unknown', '--context that does not exist', PLAIN, {
    flags: ['--context', 'absent'],
  }),
  reading('context-current-unknown', 'current-context that does not exist', (plain) =>
    plain.replace('current-context: here', 'current-context: absent'),
  ),
  reading('context-unset', 'no current-context', (plain) =>
    plain.replace('current-context: here\n', ''),
  ),
  reading(
    'context-unset-one-flag',
    'no current-context, but --cluster and --user',
    (plain) => plain.replace('current-context: here\n', ''),
    { flags: ['--cluster', 'c', '--user', 'u'] },
  ),
  reading('context-empty', 'a context without cluster and user', (plain) =>
    plain.replace('{cluster: c, user: u}', '{}'),
  ),
  reading('context-unknown-user', 'a context whose user does not exist', (plain) =>
    plain.replace('user: u}', 'user: absent}'),
  ),
  reading('context-unknown-cluster', 'a context whose cluster does not exist', (plain) =>
    plain.replace('cluster: c,', 'cluster: absent,'),
  ),
  reading('context-boolean-name', 'a name that YAML 1.1 takes for a boolean', (plain) =>
    plain.replace('user: u}', 'user: no}').replace('- name: u\n', '- name: no\n'),
  ),
  reading('context-without-user', 'a context without a user', (plain) =>
    plain.replace('{cluster: c, user: u}', '{cluster: c}'),
  ),
  reading('context-namespace', 'a context with a namespace', (plain) =>
    plain.replace('user: u}', 'user: u, namespace: kube-system}'),
  ),
  reading(
    'flag-cluster-and-user',
    '--cluster and --user over a context that names others',
    (plain) => plain.replace('{cluster: c, user: u}', '{cluster: x, user: y}'),
    { flags: ['--cluster', 'c', '--user', 'u'] },
  ),
  reading('flag-user-unknown', '--user that does not exist', PLAIN, {
    flags: ['--user', 'absent'],
  }),
  reading('flag-cluster-unknown', '--cluster that does not exist', PLAIN, {
    flags: ['--cluster', 'absent'],
  }),
  reading('no-config-server-flag', '--server without a kubeconfig', '', {
    flags: ['--server', 'https://127.0.0.1:1'],
  }),
  {
    id: 'no-config',
    about: 'no kubeconfig anywhere',
    play: () => [{ env: { KUBECONFIG: undefined } }],
  },
  {
    id: 'no-config-in-a-pod',
    about: 'no kubeconfig, in a pod without a mounted token',
    play: () => [
      {
        env: {
          KUBECONFIG: undefined,
          KUBERNETES_SERVICE_HOST: '127.0.0.1',
          KUBERNETES_SERVICE_PORT: '1',
        },
      },
    ],
  },
]
