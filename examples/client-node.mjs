// With @kubernetes/client-node, after one more line: plugins run once, refused tokens are replaced, connections are reused.
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { attach } from 'kubecred/client-node'

const kc = new KubeConfig()
kc.loadFromDefault()
attach(kc)

const { items } = await kc.makeApiClient(CoreV1Api).listNamespace()
for (const { metadata } of items) console.log(metadata.name)
