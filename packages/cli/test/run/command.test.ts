import { describe, expect, it } from 'vitest'
import { findCommand } from '../../src/run/find-command.ts'
import { userEnvironment } from '../../src/run/node-options.ts'

it('the NODE_OPTIONS of the user are restored', () => {
  expect(userEnvironment({ A: '1', KUBECRED_KEPT_NODE_OPTIONS: '--x' })).toEqual({
    A: '1',
    NODE_OPTIONS: '--x',
  })
  expect(userEnvironment({ A: '1' })).toEqual({ A: '1' })
})

describe('a command is looked up as a shell does', () => {
  it.each([
    ['sh', '/nowhere:/bin', { path: '/bin/sh' }],
    ['/bin/sh', '', { path: '/bin/sh' }],
    ['sh', '/nowhere', { exitStatus: 127 }],
    ['./no/such', '', { exitStatus: 127 }],
    ['', '/bin', { exitStatus: 127 }],
    ['passwd', '/etc:/nowhere', { exitStatus: 126 }],
    ['/etc/passwd/x', '', { exitStatus: 127 }],
    ['a\u0000b', '/bin', { exitStatus: 127 }],
  ])('%j in %j', async (command, path, found) => {
    expect(await findCommand(command, { PATH: path })).toMatchObject(found)
  })
})
