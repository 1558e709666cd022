import { describe, expect, it } from 'vitest'
import { childEnvironment } from '../../src/run/child-environment.ts'
import { findCommand } from '../../src/run/find-command.ts'
import { userEnvironment } from '../../src/run/node-options.ts'

const ACCESS = { kubeconfig: '/k', url: 'https://127.0.0.1:1', secret: 's', ca: '/c', header: '/h' }

describe('NO_PROXY of the command', () => {
  it.each([
    [{}, '127.0.0.1,localhost', '127.0.0.1,localhost'],
    [{ NO_PROXY: 'a' }, 'a,127.0.0.1,localhost', 'a,127.0.0.1,localhost'],
    [{ no_proxy: 'a, b,' }, 'a, b,127.0.0.1,localhost', 'a, b,127.0.0.1,localhost'],
    [{ NO_PROXY: 'A', no_proxy: 'b' }, 'A,127.0.0.1,localhost', 'b,127.0.0.1,localhost'],
    [{ NO_PROXY: 'localhost' }, 'localhost,127.0.0.1', 'localhost,127.0.0.1'],
    [{ NO_PROXY: '*' }, '*', '*'],
  ])('has the names of %j and ours', (env, upper, lower) => {
    const made = childEnvironment(env, ACCESS)
    expect([made['NO_PROXY'], made['no_proxy']]).toEqual([upper, lower])
  })
})

it('the command does not get the kubeconfig of the user', () => {
  const made = childEnvironment({ KUBECONFIG: '/mine', KUBECRED_TOKEN: 'old' }, ACCESS)
  expect(made).toMatchObject({ KUBECONFIG: '/k', KUBECRED_TOKEN: 's', KUBECRED_CA: '/c' })
})

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
