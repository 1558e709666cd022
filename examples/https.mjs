// With node:https: an agent that adds the credential.
import { once } from 'node:events'
import https from 'node:https'
import { json } from 'node:stream/consumers'
import { connect } from 'kubecred'
import { createAgent } from 'kubecred/https'

const cluster = await connect()
const agent = createAgent(cluster)

// axios, got and node-fetch take the same agent. With axios:
//   const { data } = await axios.get('/api/v1/namespaces', { baseURL: cluster.server, httpsAgent: agent, proxy: false })
const request = https.get(`${cluster.server}/api/v1/namespaces`, { agent })
const [response] = await once(request, 'response')
const { items } = await json(response)
for (const { metadata } of items) console.log(metadata.name)
await cluster.close()
