import { describe, expect, it } from 'vitest'
import { windowsHome } from '../../src/kubeconfig/paths.ts'

const ENV = { HOME: 'H:', HOMEDRIVE: 'D:', HOMEPATH: '\\me', USERPROFILE: 'P:' }

describe('the home directory on Windows', () => {
  it.each([
    { name: 'is HOME if it has a kubeconfig', has: ['H:', 'D:\\me', 'P:'], is: 'H:' },
    {
      name: 'is HOMEDRIVE with HOMEPATH if HOME has no kubeconfig',
      has: ['D:\\me', 'P:'],
      writable: ['H:'],
      is: 'D:\\me',
    },
    {
      name: 'is USERPROFILE if the others have no kubeconfig',
      has: ['P:'],
      writable: ['H:'],
      is: 'P:',
    },
    {
      name: 'is the first writable one without a kubeconfig',
      writable: ['P:', 'D:\\me'],
      exists: ['H:'],
      is: 'P:',
    },
    { name: 'is the first that exists', exists: ['D:\\me'], is: 'D:\\me' },
    { name: 'prefers USERPROFILE to HOMEDRIVE with HOMEPATH', exists: ['D:\\me', 'P:'], is: 'P:' },
    { name: 'is the first that is set', is: 'H:' },
    { name: 'does not need HOME', env: { ...ENV, HOME: '' }, is: 'P:' },
    { name: 'needs both HOMEDRIVE and HOMEPATH', env: { HOMEDRIVE: 'D:' }, is: undefined },
    { name: 'can be unknown', env: {}, is: undefined },
  ])('$name', ({ env = ENV, has = [], writable = [], exists = [], is }) => {
    const look = (directory: string) => ({
      exists: [...exists, ...writable, ...has].includes(directory),
      writable: writable.includes(directory),
      hasKubeconfig: has.includes(directory),
    })
    expect(windowsHome(env, look)).toBe(is)
  })
})
