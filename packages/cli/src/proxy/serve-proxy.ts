import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer, Server as TlsServer } from 'node:https'
import { join } from 'node:path'
import type { Cluster } from 'kubecred'
import type { Environment } from 'kubecred/internal'
import { ClusterProxy, type RequestSummary, serverOptions } from 'kubecred/proxy'
import { makeProcessFolder, type ProcessFolder } from '../run/process-folder.ts'
import { ownHosts } from './address.ts'
import { asHosts } from './host-names.ts'
import { type Listening, listen } from './listen.ts'
import { readSecret } from './read-secret.ts'
import type { ProxySettings } from './read-settings.ts'
import { followTlsFiles, readTlsFiles, type TlsFiles } from './tls-files.ts'

const SECRET_BYTES = 32

/** A listening proxy. */
export interface ServedProxy {
  readonly proxy: ClusterProxy
  readonly listening: Listening
  /** The file with the `Authorization` header; undefined if there is none. */
  readonly header: string | undefined
  /** Removes the file with the secret, and stops watching the TLS files. */
  cleanUp(): void
}

/** Callbacks of a proxy. */
export interface ProxyCallbacks {
  readonly onRequest: (note: RequestSummary) => void
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
  { onRequest, onProblem }: ProxyCallbacks,
): Promise<ServedProxy> {
  const { listenAddress, rules, prefix, hostNames, tls } = settings
  const secret = chooseSecret(settings)
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
      rules,
      prefix,
      onRequest,
      // The observer of the cluster already prints them.
      onError: () => {},
    })
    proxy.serve(server)
    const folder = openFolder(settings, env, secret)
    const header = folder && join(folder.path, 'header')
    const stopFollowing =
      tls && server instanceof TlsServer ? followTlsFiles(tls, server, onProblem) : undefined
    const cleanUp = (): void => {
      stopFollowing?.()
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
    folder.write('header', `Authorization: Bearer ${secret}\n`)
    return folder
  } catch (error) {
    folder?.remove()
    if (secretFile !== undefined) return undefined
    throw error
  }
}

/** Chooses the secret. Only a unix socket may have none, because only the user can connect to it. */
function chooseSecret({ listenAddress, secretFile }: ProxySettings): string | undefined {
  if (secretFile !== undefined) return readSecret(secretFile, 'secret-file')
  return listenAddress.kind === 'socket'
    ? undefined
    : randomBytes(SECRET_BYTES).toString('base64url')
}
