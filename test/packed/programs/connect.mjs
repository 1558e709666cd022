// Lists namespaces with the credential that the kubeconfig names.
import { connect } from 'kubecred'

async function main() {
  const cluster = await connect()
  const response = await cluster.fetch('/api/v1/namespaces')
  const { items } = await response.json()
  for (const { metadata } of items) process.stdout.write(`${metadata.name}\n`)
  await cluster.close()
}

void main()
