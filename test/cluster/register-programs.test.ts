import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import process from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connect } from 'kubecred'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { RunningProgram } from '../../packages/core/test/fixtures/running-program.ts'
import { TestCluster } from './harness/test-cluster.ts'
import { until } from './harness/until.ts'

interface Finder {
  findNpmPrograms(report: (line: string) => void): Promise<string>
}

const { findNpmPrograms }: Finder = await import(
  new URL('../../tools/cluster/find-npm-programs.mjs', import.meta.url).href
)
const MODULE = createRequire(import.meta.url).resolve('kubecred/register')

const INSTALL_MS = 300_000
const LIFE_MS = 20_000
/** For clocks that differ. */
const LEEWAY_MS = 10_000
const HOUR_MS = 3_600_000

const cluster = new TestCluster(inject('cluster'))
let folder: string
beforeAll(async () => {
  folder = await findNpmPrograms((line) => process.stderr.write(`cluster: ${line}\n`))
}, INSTALL_MS)

/** A program that runs, and how to make it send a request. */
interface Asked {
  readonly program: RunningProgram
  /** Makes the program read something. Returns the status, or what the program says of it. */
  ask(): Promise<string>
}

type Start = (node: Node, namespace: string) => Promise<Asked>
/** Starts Node with the credential of the test. */
type Node = (...args: readonly string[]) => RunningProgram

/** A server for MCP clients, over its standard input and output. */
const startServer: Start = async (node) => {
  const program = node(join(folder, 'node_modules/mcp-server-kubernetes/dist/index.js'))
  let id = 0
  const call = async (method: string, params: object): Promise<string> => {
    id += 1
    program.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    const [line] = await program.until('out', new RegExp(`^.*"id":${id}[,}].*$`, 'm'))
    return line
  }
  const clientInfo = { name: 'test', version: '1' }
  await call('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
  const get = { name: 'kubectl_get', arguments: { resourceType: 'namespaces', output: 'name' } }
  return {
    program,
    async ask() {
      // client-node sends the first, kubectl the second, for which the server blocks its main thread.
      const read = await call('resources/read', { uri: 'k8s://namespaces' })
      const got = await call('tools/call', get)
      expect(got).toContain('default')
      return read.includes('kube-system') ? '200' : (/Unauthorized/.exec(read)?.[0] ?? read)
    },
  }
}

/** A program that reads each ConfigMap that appears. */
const startReader =
  (file: URL): Start =>
  async (node, namespace) => {
    const program = node(fileURLToPath(file), folder, namespace)
    await program.until('out', /^ready$/m)
    return {
      program,
      async ask() {
        const name = cluster.unique('read')
        await cluster.create(`/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name } })
        const [, status = ''] = await program.until('out', new RegExp(`^(.*) ${name}$`, 'm'))
        return status
      },
    }
  }

const OPERATOR = new URL('register/operator.cjs', import.meta.url)
const FLUENT = new URL('register/fluent.mjs', import.meta.url)

const PROGRAMS: readonly [string, Start, refused: string][] = [
  ['mcp-server-kubernetes', startServer, 'Unauthorized'],
  ['an operator with @dot-i/k8s-operator', startReader(OPERATOR), '401'],
  ['a program with kubernetes-fluent-client', startReader(FLUENT), '401'],
]

/** Waits until the server accepts no token that was issued before now. */
async function untilAllExpired(): Promise<void> {
  const last = cluster.token({ user: cluster.unique('last'), lifetimeMs: LIFE_MS })
  const { token, expirationTimestamp } = last
  const ours = await connect({ kubeconfig: cluster.kubeconfig({ user: { token } }) })
  // The server caches a valid token, so this one is not used earlier.
  await pause(Date.parse(expirationTimestamp) - Date.now() + LEEWAY_MS)
  await until(async () => {
    const { status, body } = await ours.fetch('/api/v1/namespaces?limit=1')
    await body?.cancel()
    return status === 401
  })
  await ours.close()
}

/** Returns the status of a request before and after the token of the first one has expired. */
async function outlive(
  start: Start,
  { preload = [], saysExpiry }: { preload?: readonly string[]; saysExpiry: boolean },
): Promise<string[]> {
  const user = cluster.unique('npm')
  const answer = (): { token: string; expirationTimestamp: string } => {
    const issued = cluster.token({ user, lifetimeMs: LIFE_MS })
    const later = new Date(Date.now() + HOUR_MS).toISOString()
    return saysExpiry ? issued : { ...issued, expirationTimestamp: later }
  }
  const plugin = cluster.plugin().answer(answer())
  using _ = plugin.answerAnew(answer)
  const { kubectl } = cluster.facts.programs
  const env = {
    ...process.env,
    PATH: [dirname(kubectl), process.env['PATH']].join(delimiter),
    XDG_RUNTIME_DIR: cluster.folder('runtime'),
    KUBECONFIG: cluster.kubeconfig({ user: { exec: plugin.exec } }),
  }
  const node: Node = (...args) =>
    new RunningProgram(process.execPath, [...preload, ...args], { env })
  const { program, ask } = await start(node, await cluster.namespace())
  const before = await ask()
  await untilAllExpired()
  const after = await ask()
  program.child.stdin?.end()
  program.child.kill()
  await program.ended()
  return [before, after]
}

/** Programs that send one request and end: their arguments, and what they print if they were allowed to send it. */
const SHORT: readonly [string, (crd: string) => readonly string[], allowed: RegExp][] = [
  [
    'kubernetes-fluent-client',
    (crd) => ['kubernetes-fluent-client/dist/cli.js', 'crd', crd, cluster.folder('types'), '-x'],
    /Generating \S+ types for/,
  ],
  ['pepr', () => ['pepr/dist/cli.js', 'monitor', 'none'], /No pods found for module none/],
]

/** Creates a kind of object, and returns the name of its definition. */
async function defineKind(): Promise<string> {
  const [group, plural] = ['kubecred.test', cluster.unique('reads')]
  const names = { plural, singular: plural.replace('reads', 'read'), kind: plural.replace('-', '') }
  const properties = { a: { type: 'string' } }
  const schema = { openAPIV3Schema: { type: 'object', properties } }
  await cluster.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names,
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  })
  return `${plural}.${group}`
}

/** A program whose kubeconfig has a token file. */
interface WithTokenFile {
  /** Runs it. Returns whether it was allowed to send its request. */
  run(...preload: readonly string[]): Promise<boolean>
  /** Writes a new token to the file. */
  renew(): void
}

function useTokenFile([path = '', ...args]: readonly string[], allowed: RegExp): WithTokenFile {
  const file = join(cluster.folder('token'), 'token')
  const user = cluster.unique('npm')
  const env = {
    ...process.env,
    XDG_RUNTIME_DIR: cluster.folder('runtime'),
    KUBECONFIG: cluster.kubeconfig({ user: { tokenFile: file } }),
  }
  return {
    async run(...preload) {
      const line = [...preload, join(folder, 'node_modules', path), ...args]
      const { out, err } = await new RunningProgram(process.execPath, line, { env }).ended()
      return allowed.test(out + err)
    },
    renew: () => writeFileSync(file, cluster.token({ user, lifetimeMs: LIFE_MS }).token),
  }
}

describe.concurrent('with tokens of 20 s,', () => {
  it.each(PROGRAMS)('%s outlives its token with kubecred/register', async (_, start) => {
    const preload = ['--import', MODULE]
    const statuses = await outlive(start, { preload, saysExpiry: false })
    expect(statuses).toEqual(['200', '200'])
  })

  it.each(PROGRAMS)(
    '%s fails without it if the plugin does not know the expiry: client-node does not run it again after a 401',
    async (_, start, refused) => {
      expect(await outlive(start, { saysExpiry: false })).toEqual(['200', refused])
    },
  )

  it.each(PROGRAMS)(
    '%s outlives its token without it if the plugin knows the expiry: client-node runs it again then',
    async (_, start) => {
      expect(await outlive(start, { saysExpiry: true })).toEqual(['200', '200'])
    },
  )

  // With a plugin they would also work without it: each start runs the plugin, and ends before the token does.
  it.each(SHORT)(
    '%s works with a token file and kubecred/register, and not without it',
    async (_, argsFor, allowed) => {
      const { run, renew } = useTokenFile(argsFor(await defineKind()), allowed)
      renew()
      expect(await run('--import', MODULE)).toBe(true)
      // client-node drops `tokenFile` when it reads a kubeconfig, and sends no token.
      expect(await run()).toBe(false)
      await untilAllExpired()
      expect(await run('--import', MODULE)).toBe(false)
      renew()
      expect(await run('--import', MODULE)).toBe(true)
    },
  )
})
