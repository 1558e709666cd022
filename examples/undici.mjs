// With your own undici, version 6, 7 or 8: a dispatcher that adds the credential.
import { connect } from 'kubecred'
import { createDispatcher } from 'kubecred/undici'
import * as undici from 'undici'

const cluster = await connect()
const dispatcher = createDispatcher(cluster, undici)

const { body } = await dispatcher.request({ method: 'GET', path: '/api/v1/namespaces' })
const { items } = await body.json()
for (const { metadata } of items) console.log(metadata.name)

// fetch of undici takes it too, with a complete URL.
const response = await undici.fetch(`${cluster.server}/version`, { dispatcher })
const { gitVersion } = await response.json()
console.log(`Kubernetes ${gitVersion}`)
await cluster.close()
