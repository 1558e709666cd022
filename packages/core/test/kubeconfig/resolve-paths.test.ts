import { posix, win32 } from 'node:path'
import { describe, expect, it } from 'vitest'
import { NO_CLUSTER, NO_USER } from '../../src/kubeconfig/kubeconfig.ts'
import {
  type Paths,
  resolveClusterPaths,
  resolveOverridePaths,
  resolveUserPaths,
} from '../../src/kubeconfig/paths.ts'

const pathsOf = (kind: typeof posix): Paths => ({
  separator: kind.sep,
  isAbsolute: kind.isAbsolute,
  join: kind.join,
  dirname: kind.dirname,
})
const UNIX = pathsOf(posix)
const WINDOWS = pathsOf(win32)

describe('a path in an entry', () => {
  it.each([
    { name: 'is relative to the file of the entry', path: 'ca.crt', to: '/etc/kube/ca.crt' },
    { name: 'can go through directories', path: './pki/../ca.crt', to: '/etc/kube/ca.crt' },
    { name: 'can go up', path: '../ca.crt', to: '/etc/ca.crt' },
    { name: 'does not change if it is absolute', path: '/ca.crt', to: '/ca.crt' },
    { name: 'stays absent', path: undefined, to: undefined },
  ])('$name', ({ path, to }) => {
    const file = '/etc/kube/config'
    const cluster = { ...NO_CLUSTER, file, certificateAuthority: path }
    expect(resolveClusterPaths(cluster, '/cwd', UNIX).certificateAuthority).toBe(to)
    const user = { ...NO_USER, file, clientCertificate: path, clientKey: path, tokenFile: path }
    expect(resolveUserPaths(user, '/cwd', UNIX)).toMatchObject({
      clientCertificate: to,
      clientKey: to,
      tokenFile: to,
    })
  })

  it('is relative to the working directory if the entry has no file', () => {
    const cluster = { ...NO_CLUSTER, certificateAuthority: 'ca.crt' }
    expect(resolveClusterPaths(cluster, '/cwd', UNIX).certificateAuthority).toBe('/cwd/ca.crt')
  })

  it('is relative to the working directory in options', () => {
    const flags = { certificateAuthority: 'ca', clientCertificate: '/c', clientKey: '' }
    expect(resolveOverridePaths(flags, '/cwd', UNIX)).toEqual({
      certificateAuthority: '/cwd/ca',
      clientCertificate: '/c',
      clientKey: '',
    })
  })
})

describe('the command of a plugin', () => {
  const file = { unix: '/etc/kube/config', windows: 'C:\\kube\\config' }

  it.each([
    { name: 'is looked up in PATH', on: 'unix', command: 'aws', to: 'aws' },
    { name: 'with ./ is relative to the file', on: 'unix', command: './aws', to: '/etc/kube/aws' },
    {
      name: 'with a directory is relative to the file',
      on: 'unix',
      command: 'bin/aws',
      to: '/etc/kube/bin/aws',
    },
    { name: 'stays absolute', on: 'unix', command: '/bin/aws', to: '/bin/aws' },
    { name: 'can contain a backslash', on: 'unix', command: 'a\\b', to: 'a\\b' },
    { name: 'is looked up in PATH', on: 'windows', command: 'aws.exe', to: 'aws.exe' },
    {
      name: 'with a directory is relative to the file',
      on: 'windows',
      command: 'bin\\aws',
      to: 'C:\\kube\\bin\\aws',
    },
    {
      name: 'with ./ is relative to the file',
      on: 'windows',
      command: './aws',
      to: 'C:\\kube\\aws',
    },
    { name: 'stays absolute', on: 'windows', command: 'D:\\aws', to: 'D:\\aws' },
  ] as const)('$on: $name', ({ on, command, to }) => {
    const exec = {
      apiVersion: undefined,
      command,
      args: [],
      env: [],
      installHint: undefined,
      provideClusterInfo: false,
      interactiveMode: undefined,
    }
    const user = { ...NO_USER, file: file[on], exec }
    const resolved = resolveUserPaths(user, '/cwd', on === 'unix' ? UNIX : WINDOWS)
    expect(resolved.exec?.command).toBe(to)
  })
})
