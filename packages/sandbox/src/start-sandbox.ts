import { mkdtempSync, rmSync } from 'node:fs'
import type { ServerOptions } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStore } from './api/initial-objects.ts'
import { type Api, route } from './api/route.ts'
import { Tokens } from './authentication/tokens.ts'
import { type Authority, createAuthority } from './certificates/authority.ts'
import { ClientCertificates } from './certificates/client-certificates.ts'
import { issueServerCertificate } from './certificates/server-certificate.ts'
import { writeKubeconfig } from './kubeconfig/write-kubeconfig.ts'
import { Plugins } from './plugin/plugins.ts'
import type { Sandbox } from './sandbox.ts'
import type { SandboxOptions } from './sandbox-options.ts'
import { type Handling, handle, type Responder } from './server/handle.ts'
import { type ConnectionOf, listen } from './server/listener.ts'
import { RequestLog } from './server/request-log.ts'

const BOOKMARK_INTERVAL_MS = 60_000

/**
 * Starts an API server on 127.0.0.1 with a certificate authority of its own.
 *
 * @example
 * const sandbox = await startSandbox()
 * const { token } = sandbox.issueToken({ user: 'jane', lifeMs: 60_000 })
 * const kubeconfig = sandbox.writeKubeconfig({ user: { token } })
 * await sandbox.close()
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { now: realNow = Date.now, clockSkewMs = 0 } = options
  const now = (): number => realNow() + clockSkewMs
  const { authority, clientAuthority } = await createAuthorities(options)
  const certificates = new ClientCertificates(clientAuthority, now)
  const tokens = new Tokens(now)
  const log = new RequestLog()
  const api: Api = {
    store: createStore(options.watchWindow, now()),
    bookmarkIntervalMs: options.bookmarkIntervalMs ?? BOOKMARK_INTERVAL_MS,
    ...(options.proxied === undefined ? {} : { proxied: options.proxied }),
  }
  let responder: Responder | undefined

  const handling = (connectionOf: ConnectionOf): Handling => ({
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
    connectionOf,
    route: async (call) => route(call, api),
  })
  const listener = await listen({
    port: options.port ?? 0,
    ...(options.http === true
      ? {}
      : { tls: await tlsOptions(options, authority, clientAuthority) }),
    onRequest: (connectionOf) => {
      const using = handling(connectionOf)
      return (request, response) => {
        handle(request, response, using).catch(() => response.destroy())
      }
    },
  })
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-sandbox-'))
  const plugins = new Plugins(folder, {
    issueToken: (wanted) => tokens.issue(wanted),
    issueCertificate: async (wanted) => certificates.issue(wanted),
  })
  const end = async (): Promise<void> => {
    await Promise.all([listener.close(), plugins.close()])
    rmSync(folder, { recursive: true, force: true })
  }
  let ended: Promise<void> | undefined
  const close = async (): Promise<void> => {
    ended ??= end()
    return ended
  }
  const target = { url: listener.url, caPem: authority.certificate, folder }
  return {
    ...target,
    clientCaPem: clientAuthority.certificate,
    get requests() {
      return log.list()
    },
    get connections() {
      return listener.connections
    },
    get pluginRuns() {
      return plugins.runs
    },
    get pluginExecInfos() {
      return plugins.execInfos
    },
    issueToken: (wanted) => tokens.issue(wanted),
    issueCertificate: async (wanted) => certificates.issue(wanted),
    revoke: (tokenOrUser) => tokens.revoke(tokenOrUser),
    revokeCertificates: (user) => certificates.revoke(user),
    respondWith: (next) => {
      responder = next
    },
    plugin: async (wanted) => plugins.create(wanted),
    resetPluginRuns: () => plugins.resetRuns(),
    writeKubeconfig: (wanted = {}) => writeKubeconfig(wanted, target),
    close,
    [Symbol.asyncDispose]: close,
  }
}

interface Authorities {
  readonly authority: Authority
  readonly clientAuthority: Authority
}

async function createAuthorities(options: SandboxOptions): Promise<Authorities> {
  const authority = await createAuthority('sandbox-ca')
  if (options.separateClientAuthority !== true) return { authority, clientAuthority: authority }
  return { authority, clientAuthority: await createAuthority('sandbox-client-ca') }
}

async function tlsOptions(
  options: SandboxOptions,
  authority: Authority,
  clientAuthority: Authority,
): Promise<ServerOptions> {
  const { certificate, key } = await issueServerCertificate(authority)
  return {
    cert: certificate,
    key,
    ca: clientAuthority.certificate,
    minVersion: 'TLSv1.2',
    requestCert: true,
    rejectUnauthorized: options.requireClientCertificate ?? false,
  }
}
