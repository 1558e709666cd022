import { randomBytes } from 'node:crypto'
import { renameSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer, Server as TlsServer } from 'node:https'
import { join } from 'node:path'
import type { Cluster } from 'kubecred'
import { type Environment, makeProcessFolder, type ProcessFolder } from 'kubecred/internal'
import {
  ClusterProxy,
  type EndedRequest,
  type RequestSummary,
  reviewTokens,
  serverOptions,
} from 'kubecred/proxy'
import { ownHosts } from './address.ts'
import { followFiles } from './follow-files.ts'
import { asHosts } from './host-names.ts'
import { type Listening, listen } from './listen.ts'
import { readSecrets } from './read-secret.ts'
import type { ProxySettings } from './read-settings.ts'
import { followTlsFiles, readTlsFiles, type TlsFiles } from './tls-files.ts'

const SECRET_BYTES = 32

/** A listening proxy. */
export interface ServedProxy {
  readonly proxy: ClusterProxy
  readonly listening: Listening
  /** The file with the `Authorization` header; undefined if there is none. */
  readonly header: string | undefined
  /** Removes the file with the secret, and stops watching files. */
  cleanUp(): void
}

/** Callbacks of a proxy. */
export interface ProxyCallbacks {
  readonly onRequest: (note: RequestSummary) => void
  readonly onRequestEnd: ((note: EndedRequest) => void) | undefined
  /** Called with a message for the user. */
  readonly onProblem: (message: string) => void
}

/**
 * Starts a proxy that forwards requests with the credential of the cluster.
 *
 * @throws {UsageError} If the settings cannot be used.
 */
export async function serveProxy(
  cluster: Cluster,
  settings: ProxySettings,
  env: Environment,
  { onRequest, onRequestEnd, onProblem }: ProxyCallbacks,
): Promise<ServedProxy> {
  const { listenAddress, rules, prefix, hostNames, tls, callers } = settings
  const [secret, ...others] = chooseSecrets(settings)
  const server = makeServer(tls)
  const listening = await listen(server, listenAddress)
  try {
    const hosts =
      listening.kind === 'socket'
        ? 'any'
        : [...ownHosts(listening.address, listening.port), ...asHosts(hostNames, listening.port)]
    const proxy = new ClusterProxy({
      cluster,
      hosts,
      secret,
      authenticate: callers && reviewTokens(cluster, { audiences: callers.audiences }),
      impersonateCallers: callers?.isImpersonating,
      rules,
      prefix,
      onRequest,
      onRequestEnd,
      // The observer of the cluster already prints them.
      onError: () => {},
    })
    if (secret !== undefined) proxy.replaceSecrets([secret, ...others])
    proxy.serve(server)
    const folder = openFolder(settings, env, secret)
    const header = folder && join(folder.path, 'header')
    const stops = [
      tls && server instanceof TlsServer && followTlsFiles(tls, server, onProblem),
      followSecret(settings, proxy, header, onProblem),
    ]
    const cleanUp = (): void => {
      for (const stop of stops) if (stop) stop()
      folder?.remove()
    }
    return { proxy, listening, header, cleanUp }
  } catch (error) {
    server.close()
    throw error
  }
}

function makeServer(tls: TlsFiles | undefined): Server {
  if (tls === undefined) return createServer(serverOptions())
  return createTlsServer({ ...serverOptions(), ...readTlsFiles(tls) })
}

/** Writes the secret to a private folder. With `--secret-file` that is optional, because the user already has it. */
function openFolder(
  { secretFile }: ProxySettings,
  env: Environment,
  secret: string | undefined,
): ProcessFolder | undefined {
  if (secret === undefined) return undefined
  let folder: ProcessFolder | undefined
  try {
    folder = makeProcessFolder('proxy', env)
    folder.write('header', headerFor(secret))
    return folder
  } catch (error) {
    folder?.remove()
    if (secretFile !== undefined) return undefined
    throw error
  }
}

function headerFor(secret: string): string {
  return `Authorization: Bearer ${secret}\n`
}

/** Replaces the file as a whole: clients read it at any time. */
function replaceHeader(path: string, secret: string): void {
  const next = `${path}.new`
  writeFileSync(next, headerFor(secret), { mode: 0o600 })
  renameSync(next, path)
}

/** Uses the secret of `--secret-file` as soon as it changes. Requests in flight finish. */
function followSecret(
  { secretFile }: ProxySettings,
  proxy: ClusterProxy,
  header: string | undefined,
  onProblem: (message: string) => void,
): (() => void) | undefined {
  if (secretFile === undefined) return undefined
  const apply = (): void => {
    const secrets = readSecrets(secretFile, 'secret-file')
    proxy.replaceSecrets(secrets)
    if (header !== undefined) replaceHeader(header, secrets[0])
  }
  return followFiles([secretFile], 'secret', apply, onProblem)
}

/** Chooses the secrets. There is none with the tokens of callers, or on a unix socket, which only the user can reach. */
function chooseSecrets({ listenAddress, secretFile, callers }: ProxySettings): readonly string[] {
  if (secretFile !== undefined) return readSecrets(secretFile, 'secret-file')
  if (callers !== undefined || listenAddress.kind === 'socket') return []
  return [randomBytes(SECRET_BYTES).toString('base64url')]
}
