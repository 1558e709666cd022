import type { DifferentialCase } from '../command.ts'
import { reaching } from './reaching.ts'

/** Proxies of the kubeconfig and of the environment. */
export const proxies: readonly DifferentialCase[] = [
  reaching('proxy-url', 'proxy-url', (scene) => ({ 'proxy-url': `http://${scene.proxyHost}` })),
  reaching('proxy-url-password', 'proxy-url with a password', (scene) => ({
    'proxy-url': `http://jane:s%40crt@${scene.proxyHost}`,
  })),
  reaching('proxy-url-not-there', 'proxy-url of a proxy that is not there', () => ({
    'proxy-url': 'http://127.0.0.1:1',
  })),
  reaching('proxy-url-wrong', 'proxy-url with an unknown scheme', () => ({
    'proxy-url': 'ftp://proxy.example',
  })),
  reaching(
    'proxy-variable',
    'HTTPS_PROXY, with a server on the loopback interface',
    () => ({}),
    (scene) => ({ env: { HTTPS_PROXY: `http://${scene.proxyHost}` } }),
  ),
  reaching(
    'proxy-variable-other-name',
    'HTTPS_PROXY, with a server elsewhere',
    (scene) => ({
      server: scene.server.replace('127.0.0.1', 'sandbox.kubecred.test'),
    }),
    (scene) => ({ env: { HTTPS_PROXY: `http://${scene.proxyHost}` } }),
  ),
  reaching(
    'proxy-variable-lower-case',
    'https_proxy',
    (scene) => ({ server: scene.server.replace('127.0.0.1', 'sandbox.kubecred.test') }),
    (scene) => ({ env: { https_proxy: `http://${scene.proxyHost}` } }),
  ),
  reaching(
    'proxy-url-over-variable',
    'proxy-url and HTTPS_PROXY',
    (scene) => ({
      server: scene.server.replace('127.0.0.1', 'sandbox.kubecred.test'),
      'proxy-url': `http://${scene.proxyHost}`,
    }),
    () => ({ env: { HTTPS_PROXY: 'http://127.0.0.1:1' } }),
  ),
  reaching(
    'proxy-variable-no-proxy',
    'HTTPS_PROXY and a NO_PROXY that has the server',
    (scene) => ({ server: scene.server.replace('127.0.0.1', 'localhost') }),
    (scene) => ({
      env: { HTTPS_PROXY: `http://${scene.proxyHost}`, NO_PROXY: 'localhost,.example' },
    }),
  ),
]
