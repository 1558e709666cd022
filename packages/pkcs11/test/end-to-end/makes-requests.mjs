// Makes requests with the built library, then waits until its standard input ends. argv is the kubeconfig.
import { connect } from 'kubecred'

const [kubeconfig] = process.argv.slice(2)
const cluster = await connect({ kubeconfig })
const text = () => cluster.fetch('/api/v1/namespaces').then((response) => response.text())
await Promise.all([text(), text(), text()])
process.stdout.write('ready\n')
for await (const _ of process.stdin);
await cluster.close()
