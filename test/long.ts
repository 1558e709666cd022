/** The fast suite tests fetch, an agent, undici 7, client-node, HTTP/2 and WebSockets; these are more clients of the same kinds. */
const ANOTHER_CLIENT = 'the same table of behaviour with another client'

/**
 * The tests that only `npm run test:long` runs, each with the reason why it is slow.
 * None of them is the only test of one of the four guarantees in README.md.
 */
export const LONG: Readonly<Record<string, string>> = {
  'packages/cli/test/agent/kubectl-debian.test.ts':
    'the tests of kubectl with an old version of it',
  'packages/core/test/client-node/older-versions.test.ts':
    'four more versions of client-node, which are installed first',
  'packages/core/test/newer-node/*.test.ts':
    'needs a second Node: client-node 2 and undici 8 need 22.19',
  'packages/core/test/adapters/undici/undici-6.test.ts': ANOTHER_CLIENT,
  'packages/core/test/transports/{axios,fetch-http2,fetch-https,got,https-agent-direct,node-fetch,undici-6,undici-7-fetch,undici-7-interceptor}.test.ts':
    ANOTHER_CLIENT,
  'packages/core/test/vault-transports/{axios,fetch-http2,fetch-https,got,http2,https-agent-direct,node-fetch,undici-6,undici-7,undici-7-fetch,undici-7-interceptor,ws}.test.ts':
    ANOTHER_CLIENT,
  'packages/core/test/signed-transports/{axios,fetch-http2,fetch-https,got,http2,https-agent-direct,node-fetch,undici-6,undici-7,undici-7-fetch,undici-7-interceptor,undici-few-connections,ws}.test.ts':
    ANOTHER_CLIENT,
  'packages/demo/test/process.test.ts': 'starts the demo eleven times',
  'packages/pkcs11/test/end-to-end/servers.test.ts':
    'TLS servers of OpenSSL, GnuTLS and Go, with each kind of key',
}

/** The tests that both suites run, with more cases or longer in the long suite: `inject('isLong')`. */
export const LONGER: Readonly<Record<string, string>> = {
  'packages/cli/test/canary/canary.test.ts': 'secrets in every command and at every level of -v',
  'packages/cli/test/canary/echo.test.ts': 'every answer of a server, at every level of -v',
  'packages/cli/test/plugins/limits.test.ts': 'a plugin that takes longer than a minute',
  'packages/core/test/client-node/client-node-1-informers.test.ts': 'informers over many rotations',
  'packages/core/test/connect/storms.test.ts': '10,000 concurrent requests',
  'packages/core/test/proxy/long-running.test.ts': 'a whole day of a proxy',
  'packages/core/test/proxy/limits.test.ts': '10,000 connections',
  'packages/core/test/bridge/bridge.test.ts': '10,000 requests',
  'packages/core/test/transports/rotation-proof.test.ts': '200 requests of each transport',
  'packages/core/test/tls/handshake-tracker-mutations.test.ts': 'random changes of a handshake',
  'packages/core/test/tls/mutated-handshakes.test.ts': 'random changes of a live handshake',
  'packages/core/test/vault/load.test.ts': 'random load',
  'packages/core/test/vault/model.test.ts': 'random histories',
}

declare module 'vitest' {
  interface ProvidedContext {
    readonly isLong: boolean
  }
}
