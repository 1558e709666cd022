import { createDispatcher } from 'kubecred/undici'
import { driveDispatcher } from '../../adapters/undici/drive-undici.ts'
import type { Driver } from '../driver.ts'

export const undici6Driver: Driver = {
  name: 'kubecred/undici (undici 6)',
  async open(cluster) {
    const undici = await import('undici-6')
    return driveDispatcher(createDispatcher(cluster, undici), new URL(cluster.server).origin)
  },
}
