import { connect } from 'kubecred'

const cluster = await connect() // KUBECONFIG, else ~/.kube/config, else the pod's service account
const response = await cluster.fetch('/api/v1/namespaces')
const { items } = await response.json()
for (const { metadata } of items) console.log(metadata.name)
await cluster.close()
