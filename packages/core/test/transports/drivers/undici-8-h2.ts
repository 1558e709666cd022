import { createDispatcher } from 'kubecred/undici'
import { driveDispatcher } from '../../adapters/undici/drive-undici.ts'
import type { Driver } from '../driver.ts'
import { undiciSignatures } from '../undici-signatures.ts'

export const undici8Http2Driver: Driver = {
  name: 'kubecred/undici (undici 8, HTTP/2)',
  tellsErrors: 'as it is',
  signatures: undiciSignatures,
  async open(cluster) {
    const undici = await import('undici-8')
    return driveDispatcher(
      createDispatcher(cluster, undici, { allowH2: true }),
      new URL(cluster.server).origin,
    )
  },
}
