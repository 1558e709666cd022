// Lists namespaces with the program's own login.
import { connect } from 'kubecred'
import { Vault } from 'kubecred/vault'

async function main() {
  const { SERVER, CA, TOKEN } = process.env
  const vault = new Vault()
  vault.onLogin(() => ({ server: SERVER, caData: CA, token: TOKEN }), { id: 'own' })
  const cluster = await connect({ vault })
  const response = await cluster.fetch('/api/v1/namespaces')
  const { items } = await response.json()
  for (const { metadata } of items) process.stdout.write(`${metadata.name}\n`)
  await cluster.close()
}

void main()
