import type { Driver } from '../driver.ts'
import { fromFetch, NO_UPGRADE } from '../from-fetch.ts'

export const fetchDriver: Driver = {
  name: 'cluster.fetch',
  tellsErrors: 'as it is',
  cannot: { upgrade: NO_UPGRADE, 'upgrade refused once': NO_UPGRADE },
  takesPaths: true,
  open: async (cluster) => fromFetch(cluster, async () => {}),
}
