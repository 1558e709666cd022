// With a watch: lists the namespaces, then prints each change until Ctrl-C, or until the server ends the watch. An expired
// token does not end it.
import { connect } from 'kubecred'

const ending = new AbortController()
process.once('SIGINT', () => ending.abort())
const cluster = await connect({
  signal: ending.signal,
  observer: ({ type, source }) => console.error(`${type} (${source.name})`),
})

const response = await cluster.fetch('/api/v1/namespaces')
const { items, metadata: list } = await response.json()
for (const { metadata } of items) console.log(metadata.name)

// From the list on, so that no change is missed.
const query = `watch=true&resourceVersion=${list.resourceVersion}`
try {
  const watch = await cluster.fetch(`/api/v1/namespaces?${query}`)
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of watch.body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const { type, object } = JSON.parse(line)
      console.log(`${type} ${object.metadata.name}`)
    }
  }
} catch (error) {
  if (!ending.signal.aborted) throw error
}
await cluster.close()
