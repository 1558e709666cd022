// A signer for the demo, where there is no SoftHSM: a process of its own that makes its key when it starts, keeps it
// in memory, and has it certified by the demo's cluster. Whoever asks gets signatures, never the key.
import { generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { runSigner } from 'kubecred/signer'

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

await runSigner({
  certificate: ({ configuration }) => certify(configuration['issuer'] ?? ''),
  sign({ scheme, message }) {
    if (scheme !== 'ecdsa_secp256r1_sha256') throw new Error(`this key makes no ${scheme}`)
    if (message === undefined) throw new Error('the client did not send the message')
    return sign('sha256', message, privateKey)
  },
})

async function certify(socketPath: string): Promise<string> {
  const asked = request({ socketPath, method: 'POST' })
  asked.end(publicKey.export({ type: 'spki', format: 'pem' }))
  const [response] = await once(asked, 'response')
  const answer = await text(response)
  if (response.statusCode !== 200) throw new Error(`no certificate: ${answer}`)
  return answer
}
