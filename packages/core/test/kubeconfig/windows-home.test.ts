import { describe, expect, it } from 'vitest'
import { windowsHome } from '../../src/kubeconfig/paths.ts'

const ENV = { HOME: 'H:', HOMEDRIVE: 'D:', HOMEPATH: '\\me', USERPROFILE: 'P:' }

describe('the home folder on Windows', () => {
  it.each([
    { name: 'is HOME if it has a kubeconfig', has: ['H:', 'D:\\me', 'P:'], is: 'H:' },
    { name: 'is then the drive and path', has: ['D:\\me', 'P:'], writable: ['H:'], is: 'D:\\me' },
    { name: 'is then the profile', has: ['P:'], writable: ['H:'], is: 'P:' },
    { name: 'is the first writable', writable: ['P:', 'D:\\me'], exists: ['H:'], is: 'P:' },
    { name: 'is the first that exists', exists: ['D:\\me'], is: 'D:\\me' },
    { name: 'prefers the profile among equals', exists: ['D:\\me', 'P:'], is: 'P:' },
    { name: 'is the first that is set', is: 'H:' },
    { name: 'needs no HOME', env: { ...ENV, HOME: '' }, is: 'P:' },
    { name: 'needs drive and path together', env: { HOMEDRIVE: 'D:' }, is: undefined },
    { name: 'may be unknown', env: {}, is: undefined },
  ])('$name', ({ env = ENV, has = [], writable = [], exists = [], is }) => {
    const look = (folder: string) => ({
      exists: [...exists, ...writable, ...has].includes(folder),
      writable: writable.includes(folder),
      hasKubeconfig: has.includes(folder),
    })
    expect(windowsHome(env, look)).toBe(is)
  })
})
