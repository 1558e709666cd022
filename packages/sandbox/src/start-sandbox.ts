import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStore } from './api/initial-objects.ts'
import { type Api, route } from './api/route.ts'
import { Tokens } from './authentication/tokens.ts'
import { createAuthority } from './certificates/authority.ts'
import { ClientCertificates } from './certificates/client-certificates.ts'
import { ServerIdentity } from './certificates/server-identity.ts'
import {
  checkCertificateOptions,
  checkPluginOptions,
  checkRestartOptions,
  checkSandboxOptions,
  checkTokenOptions,
} from './check-options.ts'
import { writeKubeconfig } from './kubeconfig/write-kubeconfig.ts'
import { Plugins } from './plugin/plugins.ts'
import { Pods } from './pods/pods.ts'
import type { Sandbox } from './sandbox.ts'
import type { SandboxOptions } from './sandbox-options.ts'
import type { HandlerContext, Responder } from './server/handle.ts'
import { RequestLog } from './server/request-log.ts'
import { serve } from './server/serve.ts'

const BOOKMARK_INTERVAL_MS = 60_000

/**
 * Starts an API server on 127.0.0.1 with its own certificate authority.
 *
 * @throws {TypeError} An option is unknown.
 *
 * @example
 * await using sandbox = await startSandbox()
 * const { token } = sandbox.issueToken({ user: 'jane', lifetimeMs: 60_000 })
 * const kubeconfig = sandbox.writeKubeconfig({ user: { token } })
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  checkSandboxOptions(options)
  const { now: realNow = Date.now, clockSkewMs = 0 } = options
  const now = (): number => realNow() + clockSkewMs
  // First, because after a failure here nothing has to be stopped.
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-sandbox-'))
  const identity = await ServerIdentity.create()
  // Kept in a variable, because `identity.authority` changes when the server's CA is rotated.
  const clientAuthority =
    options.separateClientAuthority === true
      ? await createAuthority('sandbox-client-ca')
      : identity.authority
  const certificates = new ClientCertificates(clientAuthority, now)
  const tokens = new Tokens(now)
  const log = new RequestLog()
  const store = createStore(options.watchWindow, now())
  const pods = new Pods(store)
  const api: Api = {
    store,
    pods,
    bookmarkIntervalMs: options.bookmarkIntervalMs ?? BOOKMARK_INTERVAL_MS,
    ...(options.onProxyRequest === undefined ? {} : { proxied: options.onProxyRequest }),
  }
  let responder: Responder | undefined

  const handlerOptions: Omit<HandlerContext, 'connectionOf'> = {
    authenticators: {
      certificates,
      tokens,
      basic: { ...options.basic },
      anonymous: options.anonymous ?? true,
      now,
    },
    ...(options.forbid === undefined ? {} : { forbid: options.forbid }),
    log,
    responder: () => responder,
    route: async (call) => route(call, api),
  }
  const server = await serve(handlerOptions, {
    port: options.port ?? 0,
    http2: options.http2 ?? true,
    ...(options.http === true
      ? {}
      : {
          tls: () => ({
            ...identity.tls,
            ca: clientAuthority.certificate,
            minVersion: 'TLSv1.2',
            requestCert: true,
            rejectUnauthorized: options.requireClientCertificate ?? false,
          }),
        }),
  }).catch((error: unknown) => {
    rmSync(folder, { recursive: true, force: true })
    throw error
  })
  const plugins = new Plugins(folder, {
    issueToken: (wanted) => tokens.issue(wanted),
    issueCertificate: async (wanted) => certificates.issue(wanted),
  })
  const end = async (): Promise<void> => {
    await Promise.all([server.close(), plugins.close()])
    rmSync(folder, { recursive: true, force: true })
  }
  let ended: Promise<void> | undefined
  const close = async (): Promise<void> => {
    ended ??= end()
    return ended
  }
  const { url } = server
  return {
    url,
    get caPem() {
      return identity.authority.certificate
    },
    clientCaPem: clientAuthority.certificate,
    folder,
    get requests() {
      return log.list()
    },
    get connections() {
      return server.connections
    },
    get pluginRuns() {
      return plugins.runs
    },
    get pluginExecInfos() {
      return plugins.execInfos
    },
    issueToken: (wanted) => {
      checkTokenOptions(wanted)
      return tokens.issue(wanted)
    },
    issueCertificate: async (wanted) => {
      checkCertificateOptions(wanted)
      return certificates.issue(wanted)
    },
    revoke: (tokenOrUser) => tokens.revoke(tokenOrUser),
    revokeCertificates: (user) => certificates.revoke(user),
    respondWith: (next) => {
      responder = next
    },
    plugin: async (wanted) => {
      checkPluginOptions(wanted)
      return plugins.create(wanted)
    },
    resetPluginRuns: () => plugins.resetRuns(),
    writeKubeconfig: (wanted = {}) =>
      writeKubeconfig(wanted, { url, caPem: identity.authority.certificate, folder }),
    log: (namespace, pod, line) => pods.log(namespace, pod, line),
    dropConnections: () => server.dropConnections(),
    restart: async (wanted = {}) => {
      checkRestartOptions(wanted)
      return server.restart(wanted)
    },
    rotateServerAuthority: async () => {
      await identity.rotate()
      server.renewTls()
      return identity.authority.certificate
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
