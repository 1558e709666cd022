import { listenSigner, type SignerHandlers } from 'kubecred/signer'
import type { Pkcs11Signer } from './handlers.ts'
import type { Access } from './obtain-pin.ts'

/** What {@link serve} needs. */
export interface ServeOptions {
  readonly signer: Pkcs11Signer
  readonly socket: string
  readonly configuration: Readonly<Record<string, string>>
  readonly access: Access
  /** Prints a line. */
  readonly log: (text: string) => void
  readonly onListening: () => void
  /** Stops the server. */
  readonly signal: AbortSignal
}

/**
 * Logs in, then signs for all clients of a unix socket until `signal` aborts.
 *
 * The configuration is the server's own: the one that a client sends is ignored.
 */
export async function serve(options: ServeOptions): Promise<void> {
  const { signer, socket, configuration, access, log, onListening, signal } = options
  const { ask: prompt, notify } = access
  await signer.unlock({ configuration, prompt, notify })
  const handlers: SignerHandlers = {
    certificate: (context) => signer.certificate({ ...context, configuration }),
    sign: (context) => signer.sign({ ...context, configuration }),
  }
  await using server = await listenSigner(handlers, { path: socket })
  onListening()
  log(`Signing at ${server.path}; press Ctrl-C to stop.`)
  log(
    `In the kubeconfig, use auth-provider externalSigner with pathSocket: ${JSON.stringify(socket)}`,
  )
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
