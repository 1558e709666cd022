import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { KubeconfigOptions } from '@kubecred/sandbox'
import { writeKubeconfig } from '../../../packages/sandbox/src/kubeconfig/write-kubeconfig.ts'
import { type AdminAnswer, adminRequest } from './admin-request.ts'
import { CLIENT_AUTHORITY } from './api-server.ts'
import { type AuditEvent, AuditLog } from './audit.ts'
import { issue, type LeafOptions, type Pair } from './certificates.ts'
import type { ClusterFacts } from './cluster-facts.ts'
import { addLogLine, NODE } from './kwok.ts'
import { Plugin } from './plugin.ts'
import { GROUP } from './prepare.ts'
import { issueToken, type TokenClaims } from './token-issuer.ts'
import { until } from './until.ts'

/** A running cluster as the tests use it. */
export class TestCluster {
  readonly facts: ClusterFacts
  readonly #audit: AuditLog

  constructor(facts: ClusterFacts) {
    this.facts = facts
    this.#audit = new AuditLog(facts.auditFile)
  }

  /** Returns a unique name, for a user, an object, or a part of a path that identifies a request. */
  unique(what: string): string {
    return `${what}-${randomBytes(5).toString('hex')}`
  }

  admin(method: string, path: string, body?: unknown, type?: string): Promise<AdminAnswer> {
    return adminRequest(this.facts.access, method, path, body, type)
  }

  /** Creates an object. @throws {Error} The server rejects it. */
  async create(path: string, object: object): Promise<AdminAnswer['body']> {
    const { status, text, body } = await this.admin('POST', path, object)
    if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`)
    return body
  }

  /** Returns a token of a user who may do everything, unless `groups` are given. */
  token(claims: TokenClaims): { token: string; expirationTimestamp: string } {
    const { url, key } = this.facts.issuer
    return issueToken(url, key, { groups: [GROUP], ...claims })
  }

  certificate(options: LeafOptions): Promise<Pair> {
    return issue(CLIENT_AUTHORITY, this.facts.clients, { groups: [GROUP], ...options })
  }

  kubeconfig(options: KubeconfigOptions = {}): string {
    const { access, folder } = this.facts
    return writeKubeconfig(options, { url: access.server, caPem: access.caPem, folder })
  }

  /** Creates a folder that is removed with the cluster. */
  folder(what: string): string {
    const path = join(this.facts.folder, this.unique(what))
    mkdirSync(path)
    return path
  }

  plugin(): Plugin {
    return new Plugin(this.folder('plugin'))
  }

  /** Returns the audit events of requests whose URL contains a string. */
  seen(part: string): AuditEvent[] {
    return this.#audit.about(part)
  }

  async namespace(): Promise<string> {
    const name = this.unique('ns')
    await this.create('/api/v1/namespaces', { metadata: { name } })
    return name
  }

  /** Creates a running pod. */
  async pod(namespace: string, name = 'web'): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/pods`
    const containers = [{ name: 'main', image: 'none' }]
    await this.create(path, { metadata: { name }, spec: { nodeName: NODE, containers } })
    await until(async () => {
      const { body } = await this.admin('GET', `${path}/${name}`)
      return body.status?.phase === 'Running'
    })
    return name
  }

  /** Appends a line to the log of every pod. */
  log(line: string): void {
    addLogLine(this.facts.podLogFile, line)
  }
}
