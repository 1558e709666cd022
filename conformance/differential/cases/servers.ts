import { join } from 'node:path'
import type { DifferentialCase } from '../command.ts'
import { reaching } from './reaching.ts'

const none = { 'certificate-authority-data': undefined }

/** Server URLs and TLS trust. */
export const servers: readonly DifferentialCase[] = [
  reaching('server-ca-file', 'certificate-authority in a file', (scene) => ({
    ...none,
    'certificate-authority': scene.write('ca.crt', scene.sandbox.caPem),
  })),
  reaching('server-ca-file-relative', 'certificate-authority, relative', (scene) => {
    scene.write('trust/ca.crt', scene.sandbox.caPem)
    return { ...none, 'certificate-authority': 'trust/ca.crt' }
  }),
  reaching('server-ca-file-missing', 'certificate-authority that does not exist', () => ({
    ...none,
    'certificate-authority': 'no.crt',
  })),
  reaching('server-ca-file-and-data', 'certificate-authority both in a file and inline', () => ({
    'certificate-authority': 'no.crt',
  })),
  reaching('server-ca-no-pem', 'certificate-authority-data that is not PEM', () => ({
    'certificate-authority-data': Buffer.from('no').toString('base64'),
  })),
  reaching('server-ca-empty', 'certificate-authority, an empty file', (scene) => ({
    ...none,
    'certificate-authority': scene.write('ca.crt', ''),
  })),
  reaching('server-ca-missing', 'no certificate-authority for a private server', () => none),
  {
    id: 'server-ca-wrong',
    about: 'certificate-authority of another server',
    play: async (scene) => {
      const before = scene.caData
      await scene.sandbox.rotateServerAuthority()
      scene.config({
        user: { token: scene.token('jane') },
        cluster: { 'certificate-authority-data': before },
      })
      return [{}]
    },
  },
  {
    id: 'server-ca-wrong-with-plugin',
    about: 'a server that is not trusted, with a plugin',
    play: async (scene) => {
      const before = scene.caData
      await scene.sandbox.rotateServerAuthority()
      scene.plugin()
      scene.config({
        user: {
          exec: {
            apiVersion: 'client.authentication.k8s.io/v1',
            command: 'plugin',
            interactiveMode: 'Never',
          },
        },
        cluster: { 'certificate-authority-data': before },
      })
      return [{}]
    },
  },
  reaching('server-insecure', 'insecure-skip-tls-verify', () => ({
    ...none,
    'insecure-skip-tls-verify': true,
  })),
  reaching('server-insecure-with-ca', 'insecure-skip-tls-verify together with a CA', () => ({
    'insecure-skip-tls-verify': true,
  })),
  reaching(
    'server-insecure-flag',
    '--insecure-skip-tls-verify over a CA',
    () => ({}),
    () => ({ flags: ['--insecure-skip-tls-verify'] }),
  ),
  reaching('server-name', 'tls-server-name', () => ({
    'tls-server-name': 'sandbox.kubecred.test',
  })),
  reaching('server-name-wrong', 'tls-server-name that the server does not have', () => ({
    'tls-server-name': 'other.example',
  })),
  reaching(
    'server-name-flag',
    '--tls-server-name',
    () => ({}),
    () => ({ flags: ['--tls-server-name', 'sandbox.kubecred.test'] }),
  ),
  reaching('server-localhost', 'server by name', (scene) => ({
    server: scene.server.replace('127.0.0.1', 'localhost'),
  })),
  reaching('server-path', 'server with a path', (scene) => ({
    server: `${scene.server}/k8s/clusters/c-1`,
  })),
  reaching('server-path-slash', 'server with a path and a final slash', (scene) => ({
    server: `${scene.server}/k8s/clusters/c-1/`,
  })),
  reaching('server-slash', 'server with a final slash', (scene) => ({
    server: `${scene.server}/`,
  })),
  reaching('server-query', 'server with a query', (scene) => ({ server: `${scene.server}/a?b=c` })),
  reaching('server-user-info', 'server with a user name in it', (scene) => ({
    server: scene.server.replace('//', '//max:pw@'),
  })),
  reaching('server-without-scheme', 'server without a scheme', (scene) => ({ server: scene.host })),
  reaching('server-empty', 'server that is empty', () => ({ server: '' })),
  reaching('server-upper-case', 'server in capitals', (scene) => ({
    server: scene.server.replace('https', 'HTTPS'),
  })),
  reaching('server-refuses-connections', 'server that is not there', () => ({
    server: 'https://127.0.0.1:1',
  })),
  reaching(
    'server-flag',
    '--server over the entry',
    () => ({ server: 'https://127.0.0.1:1' }),
    (scene) => ({ flags: ['--server', scene.server] }),
  ),
  reaching(
    'server-flag-clears-name',
    '--server over an entry with tls-server-name',
    () => ({ server: 'https://127.0.0.1:1', 'tls-server-name': 'sandbox.kubecred.test' }),
    (scene) => ({ flags: ['--server', scene.server] }),
  ),
  reaching(
    'server-ca-flag',
    '--certificate-authority over the entry',
    () => ({ 'certificate-authority-data': Buffer.from('no').toString('base64') }),
    (scene) => ({
      flags: ['--certificate-authority', scene.write('ca.crt', scene.sandbox.caPem)],
    }),
  ),
  {
    id: 'server-http',
    about: 'a token for a server without TLS',
    server: { http: true },
    play: (scene) => {
      scene.config({ user: { token: scene.token('jane') }, cluster: none })
      return [{}]
    },
  },
  {
    id: 'server-http-with-plugin',
    about: 'a plugin for a server without TLS',
    server: { http: true },
    play: (scene) => {
      scene.plugin()
      const exec = {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: 'plugin',
        interactiveMode: 'Never',
      }
      scene.config({ user: { exec }, cluster: none })
      return [{}]
    },
  },
  reaching(
    'path-query',
    'a path with a query and escapes',
    () => ({}),
    () => ({ path: '/api/v1/namespaces?limit=1&labelSelector=a%3Db%20c' }),
  ),
  reaching(
    'path-missing',
    'a path that does not exist',
    () => ({}),
    () => ({ path: '/no/such/path' }),
  ),
  reaching(
    'body',
    'a body that is posted',
    () => ({}),
    (scene) => ({
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: scene.write(
        'body.json',
        '{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}',
      ),
    }),
  ),
  {
    id: 'home-config',
    about: '~/.kube/config without KUBECONFIG',
    play: (scene) => {
      scene.config({ user: { token: scene.token('jane') } }, join('home', '.kube', 'config'))
      return [{ env: { KUBECONFIG: undefined } }]
    },
  },
]
