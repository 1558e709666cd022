// Lists the namespaces of your cluster with a key that only signer.mjs reads. user.yaml has the user, and expects
// client.crt and client.key in the current folder; your kubeconfig has the cluster:
//   KUBECONFIG=~/.kube/config:examples/signer/user.yaml node examples/signer/main.mjs
import { connect } from 'kubecred'

const cluster = await connect({ user: 'example' })
const response = await cluster.fetch('/api/v1/namespaces')
const { items } = await response.json()
for (const { metadata } of items) console.log(metadata.name)
await cluster.close()
