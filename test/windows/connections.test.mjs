import assert from 'node:assert/strict'
import { closeSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { connect } from 'kubecred'
import { put, putPlugin, startScene } from './scene.mjs'

const scene = await startScene()
const { sandbox, folder } = scene

/** Returns the user that the server sees. */
async function userOf(cluster) {
  const response = await cluster.fetch('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'SelfSubjectReview',
    }),
  })
  const { status } = await response.json()
  return status.userInfo.username
}

for (const transport of ['pool', 'https', 'http2']) {
  describe(`with the transport ${transport}`, () => {
    it('requests, a certificate and a watch work', async () => {
      const user = await sandbox.issueCertificate({ user: 'jane' })
      const kubeconfig = sandbox.writeKubeconfig({ user })
      const cluster = await connect({ kubeconfig, transport })
      try {
        assert.equal(await userOf(cluster), 'jane')
        const name = `windows-${transport}`
        const watch = await cluster.fetch('/api/v1/configmaps?watch=true')
        const events = watch.body.pipeThrough(new TextDecoderStream()).getReader()
        await cluster.fetch('/api/v1/namespaces/default/configmaps', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ metadata: { name } }),
        })
        let seen = ''
        while (!seen.includes(name)) seen += (await events.read()).value
        await events.cancel()
      } finally {
        await cluster.close()
      }
    })

    it('a token that the server refuses is replaced', async () => {
      const exec = await sandbox.plugin({ user: 'joe', credential: 'token' })
      const cluster = await connect({
        kubeconfig: sandbox.writeKubeconfig({ user: { exec } }),
        transport,
      })
      try {
        assert.equal(await userOf(cluster), 'joe')
        sandbox.revoke('joe')
        assert.equal(await userOf(cluster), 'joe')
      } finally {
        await cluster.close()
      }
    })
  })
}

describe('files', () => {
  it('with Windows line endings and a byte order mark are read', async () => {
    const { token } = sandbox.issueToken({ user: 'crlf' })
    const tokenFile = put(folder, 'crlf token', `${token}\r\n`)
    const text = readFileSync(sandbox.writeKubeconfig({ user: { tokenFile } }), 'utf8')
    const kubeconfig = put(folder, 'crlf config', `\ufeff${text.replaceAll('\n', '\r\n')}`)
    const cluster = await connect({ kubeconfig })
    assert.equal(await userOf(cluster), 'crlf')
    await cluster.close()
  })

  it('of a certificate can change while they are used, and while another program has them open', async () => {
    const [first, second] = await Promise.all(
      ['first', 'second'].map((user) => sandbox.issueCertificate({ user })),
    )
    const user = {
      'client-certificate': put(folder, 'user.crt', first.certificate),
      'client-key': put(folder, 'user.key', first.key),
    }
    const cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user }) })
    const held = openSync(join(folder, 'user.crt'), 'r')
    try {
      assert.equal(await userOf(cluster), 'first')
      put(folder, 'user.crt', second.certificate)
      put(folder, 'user.key', second.key)
      let seen = 'first'
      while (seen === 'first') seen = await userOf(cluster)
      assert.equal(seen, 'second')
    } finally {
      closeSync(held)
      await cluster.close()
    }
  })

  it('of a token can be replaced', async () => {
    const tokenFile = put(folder, 'token', sandbox.issueToken({ user: 'before' }).token)
    const cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { tokenFile } }) })
    try {
      assert.equal(await userOf(cluster), 'before')
      sandbox.revoke('before')
      const next = put(folder, 'token.next', sandbox.issueToken({ user: 'after' }).token)
      rmSync(tokenFile)
      renameSync(next, tokenFile)
      assert.equal(await userOf(cluster), 'after')
    } finally {
      await cluster.close()
    }
  })
})

describe('an external signer', () => {
  const SIGNER = `
    import { createPrivateKey, sign } from 'node:crypto'
    import { readFileSync } from 'node:fs'
    import { runSigner } from ${JSON.stringify(import.meta.resolve('kubecred/signer'))}
    const folder = ${JSON.stringify(folder)}
    await runSigner({
      certificate: () => readFileSync(folder + '/signer.crt'),
      sign: ({ message }) => sign('sha256', message, createPrivateKey(readFileSync(folder + '/signer.key'))),
    })`

  const connectWith = (config) =>
    connect({
      kubeconfig: sandbox.writeKubeconfig({
        user: { 'auth-provider': { name: 'externalSigner', config } },
      }),
    })

  it('that is a .cmd file signs', async () => {
    const { certificate, key } = await sandbox.issueCertificate({ user: 'signed' })
    put(folder, 'signer.crt', certificate)
    put(folder, 'signer.key', key)
    const { batch } = putPlugin(join(folder, 'signer'), 'signer', { code: SIGNER })
    const cluster = await connectWith({ pathExec: batch })
    const second = await connectWith({ pathExec: batch })
    try {
      assert.equal(await userOf(cluster), 'signed')
      assert.equal(await userOf(second), 'signed')
    } finally {
      await cluster.close()
      await second.close()
    }
  })

  it('with a socket is refused', async () => {
    const cluster = await connectWith({ pathSocket: '\\\\.\\pipe\\signer' })
    await assert.rejects(userOf(cluster), (error) => {
      assert.equal(error.code, 'ERR_SIGNER_SOCKET')
      assert.match(error.message, /on Windows/)
      assert.match(error.hint, /pathExec/)
      return true
    })
    await cluster.close()
    const { listenSigner } = await import('kubecred/signer')
    await assert.rejects(
      listenSigner({ certificate() {}, sign() {} }, { path: '\\\\.\\pipe\\signer' }),
      { code: 'ERR_SIGNER_SOCKET', message: /on Windows/ },
    )
  })
})
