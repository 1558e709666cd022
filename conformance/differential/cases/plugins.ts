import type { Command, DifferentialCase } from '../command.ts'
import type { PluginAnswer } from '../recording-plugin.ts'
import type { Scene } from '../scene.ts'

const V1 = 'client.authentication.k8s.io/v1'
const EXEC = { apiVersion: V1, command: 'plugin', interactiveMode: 'Never' }

/** A case with a plugin. */
function running(
  id: string,
  about: string,
  answer: ((scene: Scene) => PluginAnswer | Promise<PluginAnswer>) | undefined,
  { exec = {}, command = {} }: { exec?: object; command?: Command } = {},
): DifferentialCase {
  return {
    id,
    about,
    play: async (scene) => {
      scene.plugin('plugin', await answer?.(scene))
      scene.config({ user: { exec: { ...EXEC, ...exec } } })
      return [command]
    },
  }
}

/** Plugins, in addition to upstream's tests. */
export const plugins: readonly DifferentialCase[] = [
  running('plugin-environment', 'variables of the stanza over those of the host', undefined, {
    exec: {
      args: ['--a', '', 'b c', '$HOME', '*'],
      env: [
        { name: 'FROM_HOST', value: 'changed' },
        { name: 'NEW', value: 'new' },
        { name: 'TWICE', value: 'one' },
        { name: 'TWICE', value: 'two' },
        { name: 'EMPTY', value: '' },
      ],
    },
    command: { env: { FROM_HOST: 'host', KEPT: 'kept' } },
  }),
  running('plugin-path-variable', 'PATH in the stanza does not help to find it', undefined, {
    exec: { env: [{ name: 'PATH', value: '/nowhere' }] },
  }),
  {
    id: 'plugin-relative-path-element',
    about: 'a plugin in a relative element of PATH',
    play: (scene) => {
      scene.pluginAt('local/plugin')
      scene.config({ user: { exec: EXEC } })
      return [{ env: { PATH: 'local:/usr/bin:/bin' } }]
    },
  },
  {
    id: 'plugin-relative-path',
    about: 'a command with a slash, relative to the kubeconfig',
    play: (scene) => {
      scene.pluginAt('deep/tools/plugin')
      scene.config({ user: { exec: { ...EXEC, command: 'tools/plugin' } } }, 'deep/config')
      return [{ env: { KUBECONFIG: `${scene.folder}/deep/config` } }]
    },
  },
  {
    id: 'plugin-path-not-clean',
    about: 'a command whose path can be written shorter',
    play: (scene) => {
      scene.plugin()
      scene.config({ user: { exec: { ...EXEC, command: `${scene.folder}//bin/../bin/plugin` } } })
      return [{}]
    },
  },
  running('plugin-new-token-after-401', 'a plugin whose second token is good', (scene) => ({
    stdout: scene.answer({ token: scene.token('bad') }),
    later: [scene.answer({ token: scene.token('jane') })],
  })),
  running(
    'plugin-new-certificate-after-401',
    'a plugin whose second certificate is good',
    async (scene) => {
      const answer = async (name: string): Promise<string> => {
        const { certificate, key } = await scene.certificate(name)
        return scene.answer({ clientCertificateData: certificate, clientKeyData: key })
      }
      return { stdout: await answer('bad'), later: [await answer('jane')] }
    },
  ),
  running('plugin-expired', 'a token that has ended by its own word', (scene) => ({
    stdout: scene.answer({
      token: scene.token('jane'),
      expirationTimestamp: '2020-01-01T00:00:00Z',
    }),
  })),
  running('plugin-token-with-spaces', 'a token with a space', () => ({
    stdout: JSON.stringify({ apiVersion: V1, kind: 'ExecCredential', status: { token: 'a b' } }),
  })),
  running('plugin-token-number', 'a token that is a number', () => ({
    stdout: `{"apiVersion":"${V1}","kind":"ExecCredential","status":{"token":5}}`,
  })),
  running('plugin-null-status', 'a status that is null', () => ({
    stdout: `{"apiVersion":"${V1}","kind":"ExecCredential","status":null}`,
  })),
  running('plugin-bom', 'an answer with a byte order mark', (scene) => ({
    stdout: `\ufeff${scene.answer()}`,
  })),
  running('plugin-two-objects', 'two answers one after the other', (scene) => ({
    stdout: `${scene.answer()}\n${scene.answer({ token: scene.token('max') })}\n`,
  })),
  running('plugin-fails-with-answer', 'a plugin that answers and fails', (scene) => ({
    stdout: scene.answer(),
    exitCode: 1,
  })),
  running('plugin-terminal-never', 'a terminal and interactiveMode Never', undefined, {
    command: { hasTerminal: true },
  }),
  running('plugin-mode-unknown', 'an unknown interactiveMode', undefined, {
    exec: { interactiveMode: 'Sometimes' },
  }),
  running('plugin-command-empty', 'a stanza without a command', undefined, {
    exec: { command: '' },
  }),
  running('plugin-api-version-missing', 'a stanza without apiVersion', undefined, {
    exec: { apiVersion: undefined },
  }),
  running('plugin-env-without-name', 'a variable without a name', undefined, {
    exec: { env: [{ value: 'x' }] },
  }),
  running('plugin-anonymous-path', 'a path that needs no credential', undefined, {
    command: { path: '/version' },
  }),
  running('plugin-impersonates', 'a plugin and as', undefined, {
    command: { flags: ['--as', 'max'] },
  }),
]
