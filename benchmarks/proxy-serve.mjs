// Runs the proxy over plain HTTP in a separate process. Sends its address to its parent, and ends with it.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'kubecred'
import { ClusterProxy, serverOptions } from 'kubecred/proxy'

const [kubeconfig, secret] = process.argv.slice(2)
const cluster = await connect({ kubeconfig })
const server = createServer(serverOptions())
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address()
let notes = 0
const proxy = new ClusterProxy({
  cluster,
  hosts: [`127.0.0.1:${port}`],
  secret,
  onRequest: () => {
    notes += 1
  },
})
proxy.serve(server)
process.send?.({ url: `http://127.0.0.1:${port}` })
process.on('disconnect', () => process.exit(notes > 0 ? 0 : 1))
