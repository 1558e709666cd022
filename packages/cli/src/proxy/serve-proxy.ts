import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer, Server as TlsServer } from 'node:https'
import { join } from 'node:path'
import type { Cluster } from 'kubecred'
import type { Environment } from 'kubecred/internal'
import { Proxy as ClusterProxy, type RequestSummary, serverOptions } from 'kubecred/proxy'
import { makeProcessFolder, type ProcessFolder } from '../run/process-folder.ts'
import { ownHosts } from './address.ts'
import { asHosts } from './host-names.ts'
import { type Listening, listen } from './listen.ts'
import { readSecret } from './read-secret.ts'
import type { ProxySettings } from './read-settings.ts'
import { followTlsFiles, readTlsFiles, type TlsFiles } from './tls-files.ts'

const SECRET_BYTES = 32

/** A proxy that listens. */
export interface ServedProxy {
  readonly proxy: ClusterProxy
  readonly listening: Listening
  /** A file with the header that has the secret. */
  readonly header: string | undefined
  /** Removes what was written for its users. */
  cleanUp(): void
}

/** Who is told what happens. */
export interface ProxyEars {
  readonly onRequest: (note: RequestSummary) => void
  /** Told in a sentence what a person should know. */
  readonly onProblem: (message: string) => void
}

/**
 * Listens as the settings say, and forwards with the credential of the cluster.
 *
 * @throws {UsageError}
 */
export async function serveProxy(
  cluster: Cluster,
  settings: ProxySettings,
  env: Environment,
  { onRequest, onProblem }: ProxyEars,
): Promise<ServedProxy> {
  const { place, rules, prefix, hostNames, tls } = settings
  const secret = chooseSecret(settings)
  const server = makeServer(tls)
  const listening = await listen(server, place)
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
      // The observer of the cluster writes them.
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

/** Puts the secret where its users find it. Those who chose it know it: they can do without a folder. */
function openFolder(
  { secretFile }: ProxySettings,
  env: Environment,
  secret: string | undefined,
): ProcessFolder | undefined {
  if (secret === undefined) return undefined
  try {
    const folder = makeProcessFolder('proxy', env)
    const own = { flag: 'wx', mode: 0o600 }
    writeFileSync(join(folder.path, 'header'), `Authorization: Bearer ${secret}\n`, own)
    return folder
  } catch (error) {
    if (secretFile !== undefined) return undefined
    throw error
  }
}

/** Who can reach a unix socket is us: only there a secret may be missing. */
function chooseSecret({ place, secretFile }: ProxySettings): string | undefined {
  if (secretFile !== undefined) return readSecret(secretFile, 'secret-file')
  return place.kind === 'socket' ? undefined : randomBytes(SECRET_BYTES).toString('base64url')
}
