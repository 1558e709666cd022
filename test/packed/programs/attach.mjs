// Lists namespaces with client-node.
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node'
import { attach } from 'kubecred/client-node'

async function main() {
  const kc = new KubeConfig()
  kc.loadFromDefault()
  const attachment = attach(kc)
  const { items } = await kc.makeApiClient(CoreV1Api).listNamespace()
  for (const { metadata } of items) process.stdout.write(`${metadata.name}\n`)
  await attachment.close()
}

void main()
