// With WebSockets: lists the namespaces, then runs a command in a pod, as kubectl exec does. It needs the package ws.
//   node examples/ws.mjs POD COMMAND [ARGUMENT…]
import { connect } from 'kubecred'
import { openWebSocket } from 'kubecred/ws'

const [pod, ...command] = process.argv.slice(2)
if (command.length === 0) throw new Error('usage: node examples/ws.mjs POD COMMAND [ARGUMENT…]')

const cluster = await connect()
const response = await cluster.fetch('/api/v1/namespaces')
const { items } = await response.json()
for (const { metadata } of items) console.log(metadata.name)

const query = new URLSearchParams({ stdout: 'true', stderr: 'true' })
for (const word of command) query.append('command', word)
const path = `/api/v1/namespaces/${cluster.namespace}/pods/${pod}/exec?${query}`
const socket = await openWebSocket(cluster, path, ['v5.channel.k8s.io'])

// The first byte of a message is its channel.
socket.on('message', (data) => {
  const channel = data[0]
  const rest = data.subarray(1)
  if (channel === 1) process.stdout.write(rest)
  if (channel === 2) process.stderr.write(rest)
  if (channel === 3 && JSON.parse(rest.toString()).status !== 'Success') process.exitCode = 1
})
await new Promise((resolve) => socket.once('close', resolve))
await cluster.close()
