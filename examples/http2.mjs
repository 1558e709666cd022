// With HTTP/2: all requests share one connection. Here one request for each namespace, at the same time.
import { connect } from 'kubecred'

const cluster = await connect({ transport: 'http2' })
const response = await cluster.fetch('/api/v1/namespaces')
const { items } = await response.json()

const lines = items.map(async ({ metadata: { name } }) => {
  const answer = await cluster.fetch(`/api/v1/namespaces/${name}/pods`)
  const pods = await answer.json()
  return `pods in ${name}: ${pods.items.length}`
})
for (const line of await Promise.all(lines)) console.log(line)
await cluster.close()
