import type { Driver } from '../driver.ts'
import { fromFetch, NO_UPGRADE } from '../from-fetch.ts'

export const fetchHttpsDriver: Driver = {
  name: "cluster.fetch, transport 'https'",
  tellsErrors: 'as it is',
  signatures: { inTurn: 1, atOnce: 20, why: 'As many connections as requests at once.' },
  cannot: { upgrade: NO_UPGRADE, 'upgrade refused once': NO_UPGRADE },
  takesPaths: true,
  async open(_cluster, { connect }) {
    const cluster = await connect({ transport: 'https' })
    return fromFetch(cluster, () => cluster.close())
  },
}
