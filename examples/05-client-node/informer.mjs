// An informer that runs for months: it reports every credential problem as an error event and starts again.
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node'
import { attach } from 'kubecred/client-node'

const kc = new KubeConfig()
kc.loadFromDefault()
const attachment = attach(kc)

const api = kc.makeApiClient(CoreV1Api)
const informer = makeInformer(kc, '/api/v1/namespaces/default/configmaps', () =>
  api.listNamespacedConfigMap({ namespace: 'default' }),
)
informer.on('add', ({ metadata }) => process.stdout.write(`add ${metadata.name}\n`))
informer.on('delete', ({ metadata }) => process.stdout.write(`delete ${metadata.name}\n`))
let isStopping = false
informer.on('error', (error) => {
  // Stopping an informer emits an error event too.
  if (isStopping) return
  process.stderr.write(`${error.message}; trying again in a second\n`)
  setTimeout(() => informer.start(), 1000)
})
await informer.start()

process.once('SIGINT', async () => {
  isStopping = true
  // In this order: without the attachment the informer would use client-node's own credentials.
  await informer.stop()
  await attachment.close()
})
