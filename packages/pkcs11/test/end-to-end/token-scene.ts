import { X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, type ConnectOptions, type CredentialEvent, connect } from 'kubecred'
import { type KeyOptions, PIN, SOFTHSM, SoftHsm } from '../soft-token.ts'
import { LoggedSigner } from './logged-signer.ts'

/** The server that a kubeconfig names. */
export interface Server {
  readonly url: string
  /** The CA of its certificate, as PEM. */
  readonly caPem: string
  /** The name in its certificate, if it differs from the host of `url`. */
  readonly name?: string
}

/** A token, a sandbox that trusts the certificates in it, and clients that connect with them. */
export class TokenScene implements AsyncDisposable {
  readonly hsm = new SoftHsm()
  readonly signer = new LoggedSigner(this.hsm.folder)
  readonly sandbox: Sandbox
  /** A file with the CA of client certificates. */
  readonly clientCa = join(this.hsm.folder, 'client-ca.pem')
  readonly #opened: Cluster[] = []
  #count = 0

  private constructor(sandbox: Sandbox) {
    this.sandbox = sandbox
    writeFileSync(this.clientCa, sandbox.clientCaPem)
    this.hsm.addToken('kube')
  }

  static async open(): Promise<TokenScene> {
    return new TokenScene(await startSandbox())
  }

  /** Generates a key in the token, and stores a certificate for it. */
  async addKey(key: Omit<KeyOptions, 'label'>, user: string): Promise<void> {
    const { id } = key
    this.hsm.addKey('kube', { ...key, label: user })
    const pem = this.hsm.publicKey('kube', id).export({ type: 'spki', format: 'pem' })
    const publicKey = pem.toString()
    const { certificate } = await this.sandbox.issueCertificate({ user, publicKey })
    const file = join(this.hsm.folder, `${id}.der`)
    writeFileSync(file, new X509Certificate(certificate).raw)
    this.hsm.run('pkcs11-tool', [
      ...['--module', SOFTHSM, '--token-label', 'kube', '--login', '--pin', PIN],
      ...['--write-object', file, '--type', 'cert', '--id', id, '--label', user],
    ])
  }

  /** What pkcs11-tool reports about the access to a token's private keys. */
  accessTo(token = 'kube', pin = PIN): string[] {
    const shown = this.hsm.run('pkcs11-tool', [
      ...['--module', SOFTHSM, '--token-label', token, '--login', '--pin', pin],
      ...['--list-objects', '--type', 'privkey'],
    ])
    return shown.match(/(?<=Access:\s*)\S.*/g) ?? []
  }

  writeKubeconfig(
    config: Readonly<Record<string, string>>,
    { url, caPem, name }: Server = this.sandbox,
  ): string {
    this.#count += 1
    const path = join(this.hsm.folder, `kubeconfig-${this.#count}`)
    const cluster = {
      server: url,
      'certificate-authority-data': Buffer.from(caPem).toString('base64'),
      ...(name !== undefined && { 'tls-server-name': name }),
    }
    const all = { pathExec: this.signer.program, tokenLabel: 'kube', ...config }
    const user = { 'auth-provider': { name: 'externalSigner', config: all } }
    const kubeconfig = {
      clusters: [{ name: 'k', cluster }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
      'current-context': 'c',
    }
    writeFileSync(path, JSON.stringify(kubeconfig))
    return path
  }

  /** Connects with a key in the token, and resets the counters of requests and library calls. */
  async connect(
    objectIdHex: string,
    server: Server = this.sandbox,
    { pin = PIN, ...options }: ConnectOptions & { readonly pin?: string } = {},
  ): Promise<{ cluster: Cluster; events: CredentialEvent[] }> {
    const { library, environment } = this.hsm.spied
    this.signer.asked()
    const events: CredentialEvent[] = []
    const cluster = await connect({
      kubeconfig: this.writeKubeconfig({ pathLib: library, objectIdHex }, server),
      env: { ...process.env, ...environment, KUBECRED_PKCS11_PIN: pin },
      observer: (event) => events.push(event),
      ...options,
    })
    this.#opened.push(cluster)
    return { cluster, events }
  }

  /** Closes the clusters that {@link connect} has opened. */
  async disconnect(): Promise<void> {
    await Promise.all(this.#opened.splice(0).map((cluster) => cluster.close()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.disconnect()
    await this.sandbox.close()
    this.hsm[Symbol.dispose]()
  }
}
