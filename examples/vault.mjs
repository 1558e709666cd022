// With credentials from your own code: the vault calls a login handler for the first one, and again before it expires.
//   SERVER=https://10.0.0.1:6443 CA_FILE=ca.crt TOKEN=… node examples/vault.mjs
import { connect } from 'kubecred'
import { loginWithKubeconfig } from 'kubecred/logins'
import { Vault } from 'kubecred/vault'

/** Stands for your secret store or login service. */
async function logIn() {
  const { SERVER: server, CA_FILE: caPath, TOKEN: token } = process.env
  if (!token) return undefined // does not apply here
  return { server, caPath, token, expiration: Date.now() + 10 * 60_000 }
}

const vault = new Vault()
// Without your own login, the kubeconfig is used.
vault.onLogin(async (context) => (await logIn()) ?? loginWithKubeconfig(context), {
  id: 'example',
  attempts: 3,
  timeoutMs: 10_000,
})

const cluster = await connect({ vault }) // waits for the first login
const response = await cluster.fetch('/api/v1/namespaces')
const { items } = await response.json()
for (const { metadata } of items) console.log(metadata.name)

for (const { handler, state } of vault.status().logins) console.log(`login ${handler}: ${state}`)
await cluster.close()
