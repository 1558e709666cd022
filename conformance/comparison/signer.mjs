// A key that was generated in a SoftHSM token, and a kubeconfig for it in kubecred's format (docs/signer.md).
import { spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startSandbox } from '@kubecred/sandbox'
import { Client } from './client.mjs'

const LIBRARY = '/usr/lib/softhsm/libsofthsm2.so'
const PIN = '123456'
const SIGNER = fileURLToPath(
  new URL('../../packages/pkcs11/bin/kubecred-pkcs11.mjs', import.meta.url),
)
const MAX_WAIT_MS = 30_000

/** One request to a server with TLS 1.3, and one to a server with only TLS 1.2. */
export async function signer({ command }) {
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-compare-'))
  const sandbox = await startSandbox()
  const token = new Token(folder)
  const older = await startOlderServer(sandbox)
  try {
    await token.addCertificate(sandbox)
    const send = async (server) => {
      const kubeconfig = join(folder, 'config')
      writeFileSync(kubeconfig, writeConfig(server))
      return await sendOnce(command, kubeconfig, token.environment)
    }
    const newest = await send(sandbox.url)
    const last = sandbox.requests.at(-1)
    const isAnonymous = last !== undefined && !last.hasClientCertificate
    return { newest: { ...newest, isAnonymous }, older: await send(older.url) }
  } finally {
    older.close()
    await sandbox.close()
    rmSync(folder, { recursive: true })
  }
}

async function sendOnce(command, kubeconfig, environment) {
  const client = new Client(command, environment)
  try {
    const { error } = await client.do('open', { kubeconfig })
    if (error !== undefined) return { error }
    const { results } = await client.do('send', { times: 1, waitMs: MAX_WAIT_MS })
    return { status: results[0].status, error: results[0].error }
  } finally {
    await client.end()
  }
}

function writeConfig(server) {
  const config = {
    pathExec: SIGNER,
    pathLib: LIBRARY,
    tokenLabel: 'kube',
    objectIdHex: '02',
    pin: PIN,
  }
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { 'auth-provider': { name: 'externalSigner', config } } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c',
  })
}

/** Answers 200 to a client with a certificate, else 401. */
async function startOlderServer(sandbox) {
  const { certificate: cert, key } = await sandbox.issueCertificate({ user: 'server' })
  const options = { cert, key, maxVersion: 'TLSv1.2', requestCert: true, rejectUnauthorized: false }
  const body = JSON.stringify({ kind: 'NamespaceList', apiVersion: 'v1', metadata: {}, items: [] })
  const server = createServer(options, (request, response) => {
    const hasCertificate = request.socket.getPeerCertificate().raw !== undefined
    response.writeHead(hasCertificate ? 200 : 401, { 'content-type': 'application/json' }).end(body)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `https://127.0.0.1:${server.address().port}`, close }
}

class Token {
  environment
  #folder

  constructor(folder) {
    this.#folder = folder
    mkdirSync(join(folder, 'tokens'))
    const path = join(folder, 'softhsm2.conf')
    writeFileSync(path, `directories.tokendir = ${join(folder, 'tokens')}\n`)
    this.environment = { SOFTHSM2_CONF: path }
    const pins = ['--so-pin', '12345678', '--pin', PIN]
    this.#run('softhsm2-util', ['--init-token', '--free', '--label', 'kube', ...pins])
    this.#tool(['--keypairgen', '--key-type', 'EC:prime256v1', '--id', '02', '--usage-sign'])
  }

  /** Issues a certificate for the key in the token from the sandbox's CA. */
  async addCertificate(sandbox) {
    const [key, file] = [join(this.#folder, 'key.der'), join(this.#folder, 'certificate.der')]
    this.#tool(['--read-object', '--type', 'pubkey', '--id', '02', '-o', key])
    const base64 = readFileSync(key).toString('base64')
    const publicKey = `-----BEGIN PUBLIC KEY-----\n${base64}\n-----END PUBLIC KEY-----\n`
    const { certificate } = await sandbox.issueCertificate({ user: 'jane', publicKey })
    writeFileSync(file, new X509Certificate(certificate).raw)
    this.#tool(['--write-object', file, '--type', 'cert', '--id', '02'])
  }

  #tool(args) {
    const login = ['--module', LIBRARY, '--token-label', 'kube', '--login', '--pin', PIN]
    this.#run('pkcs11-tool', [...login, ...args])
  }

  #run(command, args) {
    const env = { ...process.env, ...this.environment }
    const { status, stderr, error } = spawnSync(command, args, { env, encoding: 'utf8' })
    if (status !== 0) {
      throw new Error(
        `${command} failed: ${error?.message ?? stderr} (apt-get install softhsm2 opensc)`,
      )
    }
  }
}
