import type { DifferentialCase } from '../command.ts'
import { BASIC, withUser } from './with-user.ts'

/** Tokens, user names and passwords. */
export const tokens: readonly DifferentialCase[] = [
  { id: 'user-empty', about: 'a user entry without anything', play: withUser(() => ({})) },
  {
    id: 'user-token',
    about: 'token',
    play: withUser((scene) => ({ token: scene.token('jane') })),
  },
  {
    id: 'user-token-refused',
    about: 'token that the server does not take',
    play: withUser((scene) => ({ token: scene.token('bad') })),
  },
  {
    id: 'user-token-spaces',
    about: 'token with spaces before it',
    play: withUser((scene) => ({ token: `  ${scene.token('jane')}` })),
  },
  {
    id: 'user-token-file',
    about: 'tokenFile with a final line break',
    play: withUser((scene) => ({ tokenFile: scene.write('token', `${scene.token('jane')}\n`) })),
  },
  {
    id: 'user-token-file-relative',
    about: 'tokenFile, relative to the kubeconfig',
    play: (scene) => {
      scene.write('deep/token', scene.token('jane'))
      scene.config({ user: { tokenFile: 'token' } }, 'deep/config')
      return [{ env: { KUBECONFIG: `${scene.folder}/deep/config` } }]
    },
  },
  {
    id: 'user-token-file-and-token',
    about: 'tokenFile and token',
    play: withUser((scene) => ({
      tokenFile: scene.write('token', scene.token('jane')),
      token: scene.token('max'),
    })),
  },
  {
    id: 'user-token-file-missing',
    about: 'tokenFile that does not exist',
    play: withUser(() => ({ tokenFile: '/nowhere/token' })),
  },
  {
    id: 'user-token-file-missing-and-token',
    about: 'tokenFile that does not exist, and a token',
    play: withUser((scene) => ({ tokenFile: '/nowhere/token', token: scene.token('max') })),
  },
  {
    id: 'user-token-file-empty',
    about: 'tokenFile that is empty',
    play: withUser((scene) => ({ tokenFile: scene.write('token', '') })),
  },
  {
    id: 'user-basic',
    about: 'user name and password',
    server: BASIC,
    play: withUser(() => ({ username: 'max', password: 'pw' })),
  },
  {
    id: 'user-basic-without-password',
    about: 'user name without a password',
    server: BASIC,
    play: withUser(() => ({ username: 'max' })),
  },
  {
    id: 'user-password-alone',
    about: 'password without a user name',
    server: BASIC,
    play: withUser(() => ({ password: 'pw' })),
  },
  {
    id: 'user-basic-umlaut',
    about: 'password beyond ASCII',
    server: { basic: { max: 'Größe' } },
    play: withUser(() => ({ username: 'max', password: 'Größe' })),
  },
  {
    id: 'user-basic-and-token',
    about: 'user name together with a token',
    server: BASIC,
    play: withUser((scene) => ({ username: 'max', password: 'pw', token: scene.token('jane') })),
  },
]
