// @kubernetes/client-node as its README shows it. Arguments: the name of the package, and "attach" to use it with kubecred.
import { attach } from 'kubecred/client-node'
import { followOrders } from './follow-orders.mjs'

const [name, mode] = process.argv.slice(2)
const { CoreV1Api, KubeConfig, Watch, makeInformer } = await import(name)
const RESTART_MS = 500

await followOrders(async (kubeconfig) => {
  const kc = new KubeConfig()
  kc.loadFromFile(kubeconfig)
  if (mode === 'attach') attach(kc, { kubeconfig })
  const api = kc.makeApiClient(CoreV1Api)
  return {
    async list() {
      await api.listNamespace()
      return 200
    },
    async follow(kind, onName, onEnd) {
      if (kind === 'watch') {
        const onEvent = (_, { metadata }) => onName(metadata.name)
        await new Watch(kc).watch('/api/v1/namespaces', {}, onEvent, onEnd)
        return
      }
      const informer = makeInformer(kc, '/api/v1/namespaces', () => api.listNamespace())
      informer.on('add', ({ metadata }) => onName(metadata.name))
      // As its examples do: an informer stops after an error, and the program starts it again.
      informer.on('error', () => setTimeout(() => informer.start().catch(() => {}), RESTART_MS))
      await informer.start()
    },
  }
})
