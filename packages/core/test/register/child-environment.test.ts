import { describe, expect, it } from 'vitest'
import { childEnvironment } from '../../src/register/child-environment.ts'

const ACCESS = { kubeconfig: '/k', url: 'https://127.0.0.1:1', secret: 's', ca: '/c', header: '/h' }

describe('NO_PROXY of the program', () => {
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

it('the program does not get the kubeconfig of the user', () => {
  const made = childEnvironment({ KUBECONFIG: '/mine', KUBECRED_TOKEN: 'old' }, ACCESS)
  expect(made).toMatchObject({ KUBECONFIG: '/k', KUBECRED_TOKEN: 's', KUBECRED_CA: '/c' })
})
