import type { DifferentialCase } from '../command.ts'
import { filled, PLAIN, reading, USER } from './kubeconfig-text.ts'

const OTHER_USER = USER.replace('{{token}}', '{{other token}}')

/** How kubeconfig files are found and read. */
export const files: readonly DifferentialCase[] = [
  reading('file-yaml', 'YAML', PLAIN),
  reading('file-crlf', 'YAML with CRLF', (plain) => plain.replaceAll('\n', '\r\n')),
  reading('file-bom', 'YAML with a byte order mark', (plain) => `\ufeff${plain}`),
  reading('file-utf16', 'YAML in UTF-16', (plain) => Buffer.from(`\ufeff${plain}`, 'utf16le')),
  reading('file-json', 'JSON', (_, scene) =>
    JSON.stringify(scene.configObject({ user: { token: scene.token('jane') } })),
  ),
  reading('file-anchors', 'YAML anchors and aliases', (plain) =>
    plain
      .replace('name: c\n', 'name: &cluster c\n')
      .replace('{cluster: c, user: u}', '{cluster: *cluster, user: u}'),
  ),
  reading('file-merge-keys', 'YAML merge keys', (plain) =>
    plain.replace(
      'context: {cluster: c, user: u}',
      'context: {<<: {cluster: c, user: u}, namespace: n}',
    ),
  ),
  reading('file-duplicate-keys', 'a key twice in one mapping', (plain, scene) =>
    plain.replace(/( +)(token: .*\n)/, `$1token: ${scene.token('max')}\n$1$2`),
  ),
  reading('file-duplicate-names', 'two users of one name in one file', (plain, scene) => {
    return `${plain}${filled(OTHER_USER, scene)}`
  }),
  reading('file-unknown-fields', 'unknown fields', (plain) => `${plain}more: {a: [1]}\n`),
  reading('file-field-case', 'field names in other letters', (plain) =>
    plain.replace('current-context', 'Current-Context'),
  ),
  reading('file-field-case-token', 'a token field in capitals', (plain) =>
    plain.replace('    token:', '    Token:'),
  ),
  reading('file-wrong-type', 'a list where a text belongs', (plain) =>
    plain.replace(/token: .*/, 'token: [a]'),
  ),
  reading('file-number-token', 'a token that is a number', (plain) =>
    plain.replace(/token: .*/, 'token: 12345'),
  ),
  reading('file-quoted-boolean', 'a boolean in quotes', (plain) =>
    plain.replace(/certificate-authority-data: .*/, 'insecure-skip-tls-verify: "true"'),
  ),
  reading('file-wrong-kind', 'another kind of object', (plain) =>
    plain.replace('kind: Config', 'kind: Pod'),
  ),
  reading('file-without-kind', 'neither apiVersion nor kind', (plain) =>
    plain.replace('apiVersion: v1\nkind: Config\n', ''),
  ),
  reading('file-other-version', 'another apiVersion', (plain) =>
    plain.replace('apiVersion: v1\n', 'apiVersion: v2\n'),
  ),
  reading('file-empty', 'an empty file', ''),
  reading('file-comment', 'a file with a comment only', '# nothing\n'),
  reading('file-no-yaml', 'a file that is not YAML', 'a: [b\n'),
  reading('file-tabs', 'YAML with tabs', 'clusters:\n\t- name: c\n'),
  reading('file-second-document', 'a second YAML document', (plain) => `${plain}---\nkind: Pod\n`),
  reading('file-token-multiline', 'a token folded over lines', (plain) =>
    plain.replace(/token: (.{10})(.*)/, 'token: >-\n      $1\n      $2'),
  ),
  reading('file-null-user', 'a user that is null', (plain) =>
    plain.replace(/ {2}user:\n {4}token: .*\n/, '  user: null\n'),
  ),
  {
    id: 'file-missing',
    about: 'a file of KUBECONFIG that does not exist',
    play: () => [{}],
  },
  {
    id: 'file-missing-flag',
    about: 'a file of --kubeconfig that does not exist',
    play: (scene) => [{ flags: ['--kubeconfig', `${scene.folder}/no-config`] }],
  },
  {
    id: 'file-folder',
    about: 'a folder in place of a file',
    play: (scene) => [{ env: { KUBECONFIG: scene.home } }],
  },
  {
    id: 'file-flag-over-variable',
    about: '--kubeconfig over KUBECONFIG',
    play: (scene) => {
      scene.config({ user: { token: scene.token('max') } })
      const other = scene.config({ user: { token: scene.token('jane') } }, 'other')
      return [{ flags: ['--kubeconfig', other] }]
    },
  },
  {
    id: 'file-relative-flag',
    about: '--kubeconfig relative to the current folder',
    play: (scene) => {
      scene.write('here/token', scene.token('jane'))
      scene.config({ user: { tokenFile: './token' } }, 'here/config')
      return [{ flags: ['--kubeconfig', 'config'], folder: `${scene.folder}/here` }]
    },
  },
  {
    id: 'file-relative-variable',
    about: 'KUBECONFIG relative to the current folder',
    play: (scene) => {
      scene.config({ user: { token: scene.token('jane') } })
      return [{ env: { KUBECONFIG: 'config' } }]
    },
  },
  reading('file-map-of-users', 'users as a mapping in place of a list', (plain) =>
    plain.replace('users:\n- name: u\n  user:\n', 'users:\n  u:\n'),
  ),
  reading('file-token-line-break', 'a token with a line break in it', (plain) =>
    plain.replace(/token: (.*)/, 'token: "$1\\nX-Injected: yes"'),
  ),
]
