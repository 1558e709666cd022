// The smallest program: lists namespaces with whatever credential the kubeconfig names.
import { connect } from 'kubecred'

const cluster = await connect()
const response = await cluster.fetch('/api/v1/namespaces')
if (!response.ok) throw new Error(`the server answered ${response.status}`)
const { items } = await response.json()
for (const { metadata } of items) process.stdout.write(`${metadata.name}\n`)
await cluster.close()
