import { createDispatcher } from 'kubecred/undici'
import { driveDispatcher } from '../../adapters/undici/drive-undici.ts'
import type { Driver } from '../driver.ts'
import { undiciSignatures } from '../undici-signatures.ts'

export const undici7Driver: Driver = {
  name: 'kubecred/undici (undici 7)',
  tellsErrors: 'as it is',
  signatures: undiciSignatures,
  async open(cluster) {
    const undici = await import('undici')
    return driveDispatcher(createDispatcher(cluster, undici), new URL(cluster.server).origin)
  },
}
