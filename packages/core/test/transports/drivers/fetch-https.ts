import { connect } from 'kubecred'
import type { Driver } from '../driver.ts'
import { fromFetch, NO_UPGRADE } from '../from-fetch.ts'

export const fetchHttpsDriver: Driver = {
  name: "cluster.fetch, transport 'https'",
  cannot: { upgrade: NO_UPGRADE, 'upgrade refused once': NO_UPGRADE },
  async open(_cluster, kubeconfig) {
    const cluster = await connect({ kubeconfig, transport: 'https' })
    return fromFetch(cluster, () => cluster.close())
  },
}
