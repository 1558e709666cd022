import { connect } from 'kubecred'
import type { Driver } from '../driver.ts'
import { fromFetch, NO_UPGRADE } from '../from-fetch.ts'

export const fetchHttp2Driver: Driver = {
  name: "cluster.fetch, transport 'http2'",
  cannot: { upgrade: NO_UPGRADE, 'upgrade refused once': NO_UPGRADE },
  async open(_cluster, kubeconfig) {
    const cluster = await connect({ kubeconfig, transport: 'http2' })
    return fromFetch(cluster, () => cluster.close())
  },
}
