// A watch that continues after its token has expired: prints config maps of the namespace as they change, until Ctrl-C.
import { connect } from 'kubecred'

const ending = new AbortController()
process.once('SIGINT', () => ending.abort())
const cluster = await connect({
  signal: ending.signal,
  observer: ({ type, source }) => process.stderr.write(`${type} (${source.name})\n`),
})
const watch = await cluster.fetch(`/api/v1/namespaces/${cluster.namespace}/configmaps?watch=true`)
const decoder = new TextDecoder()
let rest = ''
try {
  for await (const chunk of watch.body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const { type, object } = JSON.parse(line)
      process.stdout.write(`${type} ${object.metadata.name}\n`)
    }
  }
} catch (error) {
  if (!ending.signal.aborted) throw error
}
await cluster.close()
