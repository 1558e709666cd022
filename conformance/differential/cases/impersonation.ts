import type { DifferentialCase } from '../command.ts'

const EXTRA = {
  scopes: ['view', 'edit'],
  'example.org/Odd key': ['a b'],
  '100%': ['ä'],
}

/** A case whose user may impersonate, with these fields and flags. */
function impersonating(
  id: string,
  about: string,
  fields: object,
  flags: readonly string[] = [],
): DifferentialCase {
  return {
    id,
    about,
    play: (scene) => {
      const { token } = scene.sandbox.issueToken({ user: 'root', groups: ['system:masters'] })
      scene.config({ user: { token, ...fields } })
      return [{ flags }]
    },
  }
}

/** Impersonation. */
export const impersonation: readonly DifferentialCase[] = [
  impersonating('as-user', 'as', { as: 'jane' }),
  impersonating('as-umlaut', 'as beyond ASCII', { as: 'jörg', 'as-groups': ['größe'] }),
  impersonating('as-kanji', 'as beyond Latin-1', { as: '山田' }),
  impersonating('as-groups', 'as with groups', { as: 'jane', 'as-groups': ['dev', 'ops'] }),
  impersonating('as-uid', 'as with a UID', { as: 'jane', 'as-uid': '42' }),
  impersonating('as-extra', 'as with extra fields that need escaping', {
    as: 'jane',
    'as-user-extra': EXTRA,
  }),
  impersonating('as-everything', 'as with groups, UID and extra fields', {
    as: 'jane',
    'as-uid': '42',
    'as-groups': ['dev'],
    'as-user-extra': { a: ['b'] },
  }),
  impersonating('as-groups-alone', 'groups without as', { 'as-groups': ['dev'] }),
  impersonating('as-user-empty', 'as that is empty', { as: '' }),
  impersonating('as-flag', '--as over as', { as: 'jane' }, ['--as', 'max']),
  impersonating('as-flag-alone', '--as and --as-group', {}, [
    '--as=max',
    '--as-group=dev',
    '--as-group=ops',
  ]),
  impersonating('as-flag-group-alone', '--as-group without --as', {}, ['--as-group', 'dev']),
  impersonating('as-flag-extra', '--as and --as-user-extra', {}, [
    ...['--as', 'max', '--as-user-extra', 'scopes=view', '--as-user-extra', 'scopes=edit'],
  ]),
  impersonating('as-flag-uid', '--as and --as-uid', {}, ['--as', 'max', '--as-uid', '7']),
  impersonating(
    'as-flag-group-over-entry',
    '--as-group together with as and groups of the entry',
    {
      as: 'jane',
      'as-groups': ['dev'],
    },
    ['--as-group', 'ops'],
  ),
]
