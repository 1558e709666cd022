import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type AdminAccess, adminRequest } from './admin-request.ts'
import { issue, makeAuthority, type Pair } from './certificates.ts'
import { freePort } from './free-port.ts'
import { Program } from './program.ts'
import { LOOPBACK, type Stage } from './stage.ts'
import { authenticationConfiguration, type TrustedIssuer } from './token-issuer.ts'

/** A user of the static token file, whose token is valid until the server is started with another file. */
export interface StaticUser {
  readonly token: string
  readonly user: string
  readonly groups: readonly string[]
}

export const CLIENT_AUTHORITY = 'client-ca'

/** A kube-apiserver that can be stopped and started again at the same address. */
export class ApiServer {
  readonly access: AdminAccess
  /** The CA of client certificates. */
  readonly clients: Pair
  readonly staticUser: StaticUser
  readonly auditFile: string
  readonly #stage: Stage
  readonly #args: readonly string[]
  #program: Program | undefined

  private constructor(
    stage: Stage,
    args: readonly string[],
    facts: Pick<ApiServer, 'access' | 'clients' | 'staticUser' | 'auditFile'>,
  ) {
    this.#stage = stage
    this.#args = args
    this.access = facts.access
    this.clients = facts.clients
    this.staticUser = facts.staticUser
    this.auditFile = facts.auditFile
  }

  static async start(
    stage: Stage,
    etcdFlags: readonly string[],
    issuers: readonly TrustedIssuer[],
    moreFlags: readonly string[] = [],
  ): Promise<ApiServer> {
    const servers = await makeAuthority('server-ca')
    const own = await issue('server-ca', servers, { user: 'kube-apiserver', names: LOOPBACK })
    const clients = await makeAuthority(CLIENT_AUTHORITY)
    const masters = { user: 'admin', groups: ['system:masters'] }
    const admin = await issue(CLIENT_AUTHORITY, clients, { ...masters, lifetimeMs: 20 * 3_600_000 })
    const staticUser = { token: secret(), user: 'static', groups: ['suite'] }
    const port = await freePort()
    const accounts = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const accountKey = stage.write(
      'service-accounts.key',
      accounts.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    )
    const auditFile = join(stage.folder, 'audit.log')
    const config = JSON.stringify(authenticationConfiguration(issuers))
    const { token, user, groups } = staticUser
    const args = [
      ...etcdFlags,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      `--cert-dir=${stage.folder}`,
      `--tls-cert-file=${stage.write('server.crt', own.certificate)}`,
      `--tls-private-key-file=${stage.write('server.key', own.key)}`,
      `--client-ca-file=${stage.write('client-ca.crt', clients.certificate)}`,
      `--token-auth-file=${stage.write('tokens.csv', `${token},${user},1,"${groups.join(',')}"\n`)}`,
      `--authentication-config=${stage.write('authentication.json', config)}`,
      '--authorization-mode=Node,RBAC',
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${accountKey}`,
      `--service-account-signing-key-file=${accountKey}`,
      // There is no controller that creates the default account of a namespace.
      '--disable-admission-plugins=ServiceAccount',
      '--service-cluster-ip-range=10.0.0.0/24',
      '--endpoint-reconciler-type=none',
      '--kubelet-preferred-address-types=InternalIP',
      `--audit-policy-file=${stage.write('audit-policy.json', JSON.stringify(AUDIT_POLICY))}`,
      `--audit-log-path=${auditFile}`,
      '--audit-log-mode=blocking',
      '--profiling=false',
      ...moreFlags,
    ]
    const server = `https://127.0.0.1:${port}`
    const access = { server, caPem: servers.certificate, ...admin }
    const facts = { access, clients, staticUser, auditFile }
    const api = new ApiServer(stage, args, facts)
    await api.run()
    return api
  }

  /** Starts the program and waits until it is ready. */
  async run(): Promise<void> {
    this.#program = new Program({
      ...this.#stage,
      name: 'kube-apiserver',
      path: this.#stage.programs['kube-apiserver'],
      args: this.#args,
    })
    await this.#program.untilReady(async () => {
      const { status } = await adminRequest(this.access, 'GET', '/readyz')
      return status === 200
    })
  }

  get program(): Program {
    if (this.#program === undefined) throw new Error('the API server does not run')
    return this.#program
  }
}

const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    // The server's own requests, many per second.
    { level: 'None', users: ['system:apiserver'] },
    { level: 'Metadata' },
  ],
}

function secret(): string {
  return randomBytes(24).toString('base64url')
}
