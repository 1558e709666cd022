import type { SignerChannels } from '../ports/signer-channel.ts'
import { dialSigner } from './dial-signer.ts'
import { startSigner } from './start-signer.ts'

/** Real processes and sockets. */
export const nodeSignerChannels: SignerChannels = { start: startSigner, dial: dialSigner }
