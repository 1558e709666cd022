import type { Driver } from '../driver.ts'
import { fromFetch, NO_UPGRADE } from '../from-fetch.ts'

export const fetchHttp2Driver: Driver = {
  name: "cluster.fetch, transport 'http2'",
  tellsErrors: 'as it is',
  cannot: { upgrade: NO_UPGRADE, 'upgrade refused once': NO_UPGRADE },
  takesPaths: true,
  async open(_cluster, { connect }) {
    const cluster = await connect({ transport: 'http2' })
    return fromFetch(cluster, () => cluster.close())
  },
}
