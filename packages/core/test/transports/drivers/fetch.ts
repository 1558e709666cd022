import type { Driver } from '../driver.ts'
import { fromFetch, NO_UPGRADE } from '../from-fetch.ts'

export const fetchDriver: Driver = {
  name: 'cluster.fetch',
  cannot: { upgrade: NO_UPGRADE, 'upgrade refused once': NO_UPGRADE },
  open: async (cluster) => fromFetch(cluster, async () => {}),
}
