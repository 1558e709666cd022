// With an informer of @kubernetes/client-node that runs for months: lists the namespaces, then prints each change until
// Ctrl-C. It reports every credential problem as an error event, and starts again.
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node'
import { attach } from 'kubecred/client-node'

const kc = new KubeConfig()
kc.loadFromDefault()
const attachment = attach(kc)

const api = kc.makeApiClient(CoreV1Api)
const informer = makeInformer(kc, '/api/v1/namespaces', () => api.listNamespace())
informer.on('add', ({ metadata }) => console.log(`add ${metadata.name}`))
informer.on('delete', ({ metadata }) => console.log(`delete ${metadata.name}`))
let isStopping = false
informer.on('error', (error) => {
  // Stopping an informer emits an error event too.
  if (isStopping) return
  console.error(`${error.message}; trying again in a second`)
  setTimeout(() => informer.start(), 1000)
})

process.once('SIGINT', async () => {
  isStopping = true
  // In this order: without the attachment the informer would use client-node's own credentials.
  await informer.stop()
  await attachment.close()
})
await informer.start()
