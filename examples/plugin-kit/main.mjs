// Lists the namespaces of your cluster with a token from plugin.mjs. user.yaml has the user, your kubeconfig the cluster:
//   export KUBECONFIG=~/.kube/config:examples/plugin-kit/user.yaml
//   EXAMPLE_TOKEN=… node examples/plugin-kit/main.mjs
import { connect } from 'kubecred'

const cluster = await connect({ user: 'example' })
const response = await cluster.fetch('/api/v1/namespaces')
const { items } = await response.json()
for (const { metadata } of items) console.log(metadata.name)
await cluster.close()
