// The signer that the demo uses without SoftHSM: a process that generates its key when it starts, keeps it in memory, and
// gets a certificate from the demo's server. It returns signatures, never the key.
import { generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { runSigner } from 'kubecred/signer'

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

await runSigner({
  certificate: ({ configuration }) => certify(configuration['issuer'] ?? ''),
  sign({ scheme, message }) {
    if (scheme !== 'ecdsa_secp256r1_sha256') throw new Error(`this key cannot sign with ${scheme}`)
    if (message === undefined) throw new Error('the client did not send the message')
    return sign('sha256', message, privateKey)
  },
})

async function certify(socketPath: string): Promise<string> {
  const outgoing = request({ socketPath, method: 'POST' })
  outgoing.end(publicKey.export({ type: 'spki', format: 'pem' }))
  const [response] = await once(outgoing, 'response')
  const answer = await text(response)
  if (response.statusCode !== 200) throw new Error(`no certificate was issued: ${answer}`)
  return answer
}
