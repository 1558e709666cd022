// kubecred with its defaults.
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { connect } from 'kubecred'
import { followOrders } from './follow-orders.mjs'

await followOrders(async (kubeconfig) => {
  const cluster = await connect({ kubeconfig })
  return {
    async list() {
      const response = await cluster.fetch('/api/v1/namespaces')
      await response.json()
      return response.status
    },
    async follow(_, onName, onEnd) {
      const { body } = await cluster.fetch('/api/v1/namespaces?watch=true')
      const lines = createInterface({ input: Readable.fromWeb(body).on('error', onEnd) })
      lines.on('line', (line) => onName(JSON.parse(line).object.metadata.name)).on('close', onEnd)
    },
  }
})
