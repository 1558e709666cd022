import { listenSigner, type SignerHandlers } from 'kubecred/signer'
import type { Pkcs11Signer } from './handlers.ts'
import type { Access } from './obtain-pin.ts'

export interface Serving {
  readonly signer: Pkcs11Signer
  readonly socket: string
  readonly configuration: Readonly<Record<string, string>>
  readonly access: Access
  readonly say: (text: string) => void
  readonly onListening: () => void
  /** Ends it. */
  readonly signal: AbortSignal
}

/**
 * Logs in, then signs for all clients of a unix socket until it is told to stop.
 *
 * The configuration is the server's own: what a client sends along chooses nothing.
 */
export async function serve(serving: Serving): Promise<void> {
  const { signer, socket, configuration, access, say, onListening, signal } = serving
  const { ask, tell } = access
  await signer.unlock({ configuration, ask, prompt: tell })
  const handlers: SignerHandlers = {
    certificate: (context) => signer.certificate({ ...context, configuration }),
    sign: (context) => signer.sign({ ...context, configuration }),
  }
  await using server = await listenSigner(handlers, { path: socket })
  onListening()
  say(`Signing at ${server.path}; end it with Ctrl-C.`)
  say(`In the kubeconfig: auth-provider externalSigner with pathSocket: ${JSON.stringify(socket)}`)
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
