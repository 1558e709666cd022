#!/usr/bin/env node
// An external signer: the private key stays with OpenSSL, and the client gets a certificate and signatures.
// `key` may be anything that `openssl pkeyutl -inkey` accepts. user.yaml shows the configuration.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { runSigner } from 'kubecred/signer'

await runSigner({
  certificate: ({ configuration }) => readFile(configuration.certificate),

  sign({ configuration, scheme, digest, signal }) {
    const hash = /sha\d+$/.exec(scheme)?.[0]
    if (hash === undefined) throw new Error(`openssl pkeyutl cannot sign a ready ${scheme} digest`)
    const options = [`digest:${hash}`]
    if (scheme.startsWith('rsa')) options.push('rsa_padding_mode:pss', 'rsa_pss_saltlen:digest')
    const args = ['pkeyutl', '-sign', '-inkey', configuration.key]
    for (const option of options) args.push('-pkeyopt', option)
    return new Promise((resolve, reject) => {
      const done = (error, signature) => (error ? reject(error) : resolve(signature))
      const { stdin } = execFile('openssl', args, { encoding: 'buffer', signal }, done)
      // OpenSSL may exit before it has read its input; then `error` has the reason.
      stdin.on('error', () => {}).end(digest)
    })
  },
})
