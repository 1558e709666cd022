import type { DifferentialCase } from '../command.ts'
import type { Scene } from '../scene.ts'
import { BASIC, pair } from './with-user.ts'

type Flags = (scene: Scene) => readonly string[] | Promise<readonly string[]>

const EXEC = {
  apiVersion: 'client.authentication.k8s.io/v1',
  command: 'plugin',
  interactiveMode: 'Never',
}

/** A case with a plugin in PATH, a user entry, and flags. */
const withFlags =
  (user: (scene: Scene) => object, flags: Flags = () => []): DifferentialCase['play'] =>
  async (scene) => {
    scene.plugin()
    scene.config({ user: user(scene) })
    return [{ flags: await flags(scene) }]
  }

/** Several credentials, and flags together with entries: which takes precedence. */
export const sideBySide: readonly DifferentialCase[] = [
  {
    id: 'user-exec-and-token',
    about: 'plugin together with a token',
    play: withFlags((scene) => ({ exec: EXEC, token: scene.token('max') })),
  },
  {
    id: 'user-exec-and-token-file',
    about: 'plugin together with a tokenFile',
    play: withFlags((scene) => ({
      exec: EXEC,
      tokenFile: scene.write('token', scene.token('max')),
    })),
  },
  {
    id: 'user-exec-and-certificate',
    about: 'plugin together with a client certificate',
    play: async (scene) => {
      scene.plugin()
      const { certificate, key } = await pair(scene, 'max')
      scene.config({
        user: { exec: EXEC, 'client-certificate': certificate, 'client-key': key },
      })
      return [{}]
    },
  },
  {
    id: 'user-exec-and-basic',
    about: 'plugin together with a user name',
    server: BASIC,
    play: withFlags(() => ({ exec: EXEC, username: 'max', password: 'pw' })),
  },
  {
    id: 'user-exec-and-empty-token',
    about: 'plugin together with a token that is empty',
    play: withFlags(() => ({ exec: EXEC, token: '', 'client-certificate-data': '' })),
  },
  {
    id: 'user-exec-and-auth-provider',
    about: 'plugin together with an auth-provider',
    play: withFlags(() => ({ exec: EXEC, 'auth-provider': { name: 'oidc' } })),
  },
  {
    id: 'user-auth-provider-removed',
    about: 'an auth-provider that Kubernetes has removed',
    play: withFlags(() => ({ 'auth-provider': { name: 'gcp', config: { a: 'b' } } })),
  },
  {
    id: 'user-auth-provider-unknown',
    about: 'an unknown auth-provider',
    play: withFlags(() => ({ 'auth-provider': { name: 'no-such-provider' } })),
  },
  {
    id: 'flag-token-over-token',
    about: '--token over a token',
    play: withFlags(
      (scene) => ({ token: scene.token('jane') }),
      (scene) => ['--token', scene.token('max')],
    ),
  },
  {
    id: 'flag-token-over-token-file',
    about: '--token over a tokenFile',
    play: withFlags(
      (scene) => ({ tokenFile: scene.write('token', scene.token('jane')) }),
      (scene) => ['--token', scene.token('max')],
    ),
  },
  {
    id: 'flag-token-over-basic',
    about: '--token over user name and password',
    server: BASIC,
    play: withFlags(
      () => ({ username: 'max', password: 'pw' }),
      (scene) => ['--token', scene.token('jane')],
    ),
  },
  {
    id: 'flag-basic-over-token',
    about: '--username and --password over a token',
    server: BASIC,
    play: withFlags(
      (scene) => ({ token: scene.token('jane') }),
      () => ['--username', 'max', '--password', 'pw'],
    ),
  },
  {
    id: 'flag-token-over-exec',
    about: '--token over a plugin',
    play: withFlags(
      () => ({ exec: EXEC }),
      (scene) => ['--token', scene.token('max')],
    ),
  },
  {
    id: 'flag-certificate-over-token',
    about: '--client-certificate and --client-key together with a token',
    play: withFlags(
      (scene) => ({ token: scene.token('jane') }),
      async (scene) => {
        const { certificate, key } = await pair(scene, 'max')
        return ['--client-certificate', certificate, '--client-key', key]
      },
    ),
  },
]
