// A program in a pod that uses only the library: sends a request for each path that it reads, and prints the status.
import { createInterface } from 'node:readline'
import { connect } from 'kubecred'

const cluster = await connect()
process.stdout.write(`server ${cluster.status().server}\nnamespace ${cluster.namespace}\n`)
for await (const path of createInterface({ input: process.stdin })) {
  const answer = await cluster.fetch(path)
  await answer.arrayBuffer()
  process.stdout.write(`status ${answer.status}\n`)
}
await cluster.close()
