import { describe, expect, it } from 'vitest'
import type { ClusterEntry, Kubeconfig, UserEntry } from '../../src/kubeconfig/kubeconfig.ts'
import { parseKubeconfig } from '../../src/kubeconfig/parse-kubeconfig.ts'
import {
  type ClusterLike,
  givenEntries,
  type UserLike,
} from '../../src/logins/kube-config-object.ts'
import { isSameCluster, isSameUser } from '../../src/logins/original-entries.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')

const CLUSTER: ClusterLike = {
  name: 'k',
  server: 'https://k',
  tlsServerName: 'other',
  skipTLSVerify: true,
  caFile: '/etc/kube/ca.crt',
  caData: base64('ca'),
  proxyUrl: 'http://u:word@p',
}
const USER: UserLike = {
  name: 'u',
  token: 't',
  username: 'jane',
  password: 'word',
  certFile: '/etc/kube/c.crt',
  certData: base64('c'),
  keyFile: '/etc/kube/c.key',
  keyData: base64('key'),
  impersonateUser: 'ann',
}

/** The same in a file, with relative paths. */
const CLUSTER_IN_FILE = {
  server: 'https://k',
  'tls-server-name': 'other',
  'insecure-skip-tls-verify': true,
  'certificate-authority': 'ca.crt',
  'certificate-authority-data': base64('ca'),
  'proxy-url': 'http://u:word@p',
}
const USER_IN_FILE = {
  token: 't',
  username: 'jane',
  password: 'word',
  'client-certificate': './c.crt',
  'client-certificate-data': base64('c'),
  'client-key': 'c.key',
  'client-key-data': base64('key'),
  as: 'ann',
}

const given = givenEntries({
  key: '',
  currentContext: 'c',
  context: { name: 'c', cluster: 'k', user: 'u' },
  cluster: CLUSTER,
  user: USER,
})
const readFile = (cluster: object, user: object): Kubeconfig =>
  parseKubeconfig(
    { clusters: [{ name: 'k', cluster }], users: [{ name: 'u', user }] },
    '/etc/kube/config',
  )
const clusterOf = ({ clusters }: Kubeconfig): ClusterEntry =>
  clusters.get('k') ?? expect.unreachable()
const userOf = ({ users }: Kubeconfig): UserEntry => users.get('u') ?? expect.unreachable()

describe('an entry of a KubeConfig', () => {
  it('has every field that client-node keeps', () => {
    const cluster = clusterOf(given)
    expect({ ...cluster, proxyUrl: cluster.proxyUrl?.expose() }).toMatchObject({
      server: 'https://k',
      tlsServerName: 'other',
      insecureSkipTlsVerify: true,
      certificateAuthority: '/etc/kube/ca.crt',
      certificateAuthorityData: 'ca',
      proxyUrl: 'http://u:word@p',
      disableCompression: false,
    })
    const user = userOf(given)
    expect({
      ...user,
      token: user.token?.expose(),
      password: user.password?.expose(),
      clientKeyData: user.clientKeyData?.expose(),
    }).toMatchObject({
      token: 't',
      username: 'jane',
      password: 'word',
      clientCertificate: '/etc/kube/c.crt',
      clientCertificateData: 'c',
      clientKey: '/etc/kube/c.key',
      clientKeyData: 'key',
      as: 'ann',
      tokenFile: undefined,
    })
  })

  it('is found in its file, with the fields that client-node dropped', () => {
    const file = readFile(
      { ...CLUSTER_IN_FILE, 'disable-compression': true },
      { ...USER_IN_FILE, tokenFile: 'token', 'as-groups': ['g'] },
    )
    expect(isSameCluster(clusterOf(file), clusterOf(given), '/cwd')).toBe(true)
    expect(isSameUser(userOf(file), userOf(given), '/cwd')).toBe(true)
  })

  it.each(Object.keys(CLUSTER_IN_FILE))('is another cluster if the file has no %s', (key) => {
    const file = readFile({ ...CLUSTER_IN_FILE, [key]: null }, {})
    expect(isSameCluster(clusterOf(file), clusterOf(given), '/cwd')).toBe(false)
  })

  it.each(Object.keys(USER_IN_FILE))('is another user if the file has no %s', (key) => {
    const file = readFile({}, { ...USER_IN_FILE, [key]: null })
    expect(isSameUser(userOf(file), userOf(given), '/cwd')).toBe(false)
  })
})
