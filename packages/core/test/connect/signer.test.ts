import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { startSandbox } from '@kubecred/sandbox'
import { type Cluster, type ConnectOptions, type CredentialEvent, connect } from 'kubecred'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { SigningKey } from '../../src/credential/signing-key.ts'
import { versionRegistry } from '../../src/node/process-registry.ts'
import { LINE } from '../../src/request/line.ts'
import { makePair, type TestKeyPair } from '../fixtures/make-certificates.ts'
import { expectNoLeak } from '../fixtures/no-leak.ts'
import { isRunning } from '../fixtures/processes.ts'
import { hasScript, onTerminal, quoteWords, RunningProgram } from '../fixtures/running-program.ts'
import { expectNoProcessesLeft, SignerFixture, toSign } from '../fixtures/signer-fixture.ts'

let pair: TestKeyPair
let scene: SignerFixture
let clusters: Cluster[]
let events: CredentialEvent[]
beforeAll(async () => {
  pair = await makePair()
})
beforeEach(() => {
  scene = new SignerFixture(pair)
  ;[clusters, events] = [[], []]
})
afterEach(async () => {
  await Promise.all(clusters.map((cluster) => cluster.close()))
  await scene[Symbol.asyncDispose]()
  await expectNoProcessesLeft()
  expect(versionRegistry().keepers.size).toBe(0)
})

function writeConfig(
  parameters: Readonly<Record<string, string>>,
  name = 'config',
  cluster: object = { server: 'https://127.0.0.1:1' },
): string {
  const path = join(scene.folder, name)
  const config = { pathExec: './signer.mjs', folder: scene.folder, ...parameters }
  const user = { 'auth-provider': { name: 'externalSigner', config } }
  writeFileSync(
    path,
    JSON.stringify({
      clusters: [{ name: 'k', cluster }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
      'current-context': 'c',
    }),
  )
  return path
}

async function open(kubeconfig: string, options: ConnectOptions = {}): Promise<Cluster> {
  const observer = (event: CredentialEvent): void => void events.push(event)
  const cluster = await connect({ kubeconfig, observer, ...options })
  clusters.push(cluster)
  return cluster
}

async function keyOf(cluster: Cluster): Promise<SigningKey> {
  const { certificate } = await cluster.credential()
  if (certificate?.signingKey === undefined) throw new Error('no signing key')
  return certificate.signingKey
}

const certificates = (): number =>
  scene.asked().filter((each) => each.startsWith('CertificateRequest')).length

describe('connect() with an external signer', () => {
  it('does not run it before it is needed, and gets the certificate once', async () => {
    const path = writeConfig({ stays: 'yes' })
    const opened = await Promise.all([open(path), open(path), open(path)])
    expect(scene.log()).toEqual([])
    const leases = opened.flatMap((cluster) => Array.from({ length: 20 }, () => keyOf(cluster)))
    const keys = await Promise.all(leases)
    await Promise.all(keys.slice(0, 5).map((key) => key.sign(toSign('x'))))
    expect(certificates()).toBe(1)
    expect(scene.asked()).toHaveLength(6)
    const [{ pid } = { pid: 0 }] = scene.log()
    await opened[0]?.close()
    await opened[1]?.close()
    await keys[2]?.sign(toSign('x'))
    expect(isRunning(pid)).toBe(true)
    await opened[2]?.close()
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false))
  })

  it('sends many requests with few signatures', async () => {
    await using sandbox = await startSandbox()
    const jane = await sandbox.issueCertificate({ user: 'jane' })
    await using device = new SignerFixture(jane)
    const cluster = {
      server: sandbox.url,
      'certificate-authority-data': Buffer.from(sandbox.caPem).toString('base64'),
    }
    const parameters = { pathExec: device.program, folder: device.folder, stays: 'yes' }
    const opened = await open(writeConfig(parameters, 'config', cluster))
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => opened.fetch('/api/v1/namespaces')),
    )
    await Promise.all(responses.map((response) => response.text()))
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200))
    const [first, ...signatures] = device.asked()
    expect(first).toBe('CertificateRequest by variable')
    expect(signatures.length).toBeLessThan(20)
    expect(new Set(signatures)).toEqual(new Set(['SignRequest by line']))
    await opened.close()
  })

  it('shares nothing between signers with different parameters', async () => {
    await keyOf(await open(writeConfig({ objectId: '1' }, 'one')))
    await keyOf(await open(writeConfig({ objectId: '2' }, 'other')))
    expect(certificates()).toBe(2)
  })

  it('takes turns at the same signer with connections that have other options', async () => {
    const path = writeConfig({ exclusive: 'yes', delay: '30' })
    const one = await open(path)
    const other = await open(path, { policy: { signerIdleMs: 1000 } })
    expect(versionRegistry().keepers.size).toBe(2)
    const keys = await Promise.all([keyOf(one), keyOf(other)])
    await Promise.all(keys.map((key) => key.sign(toSign('x'))))
    expect(scene.asked()).toHaveLength(4)
  })

  it('takes a new certificate when the server refuses the old one', async () => {
    const cluster = await open(writeConfig({ chain: 'yes' }))
    await keyOf(cluster)
    const next = await makePair()
    writeFileSync(join(scene.folder, 'certificate.pem'), next.certificate)
    const { keeper } = cluster[LINE]
    const better = await keeper.replace(await keeper.lease(), { status: 401, headers: {} })
    expect(better?.credential.certificate?.chain).toBe(next.certificate)
  })

  it('shows prompts until they end', async () => {
    const shown: { text: string; signal: AbortSignal; kind: string }[] = []
    const path = writeConfig({ behaviour: 'prompts', only: 'signature' })
    const cluster = await open(path, {
      onPrompt: ({ text, signal, source }) => shown.push({ text, signal, kind: source.kind }),
    })
    const key = await keyOf(cluster)
    expect(shown).toEqual([])
    await key.sign(toSign('x'))
    expect(shown).toMatchObject([{ text: 'Touch the device', kind: 'signer' }])
    expect(shown[0]?.signal.aborted).toBe(true)
    expect(events.map(({ type }) => type)).toContain('prompt-ended')
  })

  it('rejects an option that is misspelt or not a number', async () => {
    const path = writeConfig({})
    await expect(connect({ kubeconfig: path, policy: { signerIdleMs: 0 } })).rejects.toThrow(
      'policy.signerIdleMs must be a whole number above 0',
    )
    // A timer of Node would ring at once.
    await expect(connect({ kubeconfig: path, policy: { signerIdleMs: 2 ** 31 } })).rejects.toThrow(
      'policy.signerIdleMs must be at most 2147483647',
    )
    const options = { kubeconfig: path, onPromt: () => {} } as ConnectOptions
    await expect(connect(options)).rejects.toThrow('did you mean onPrompt?')
  })
})

describe('a PIN', () => {
  const CANARIES = { pin: 'canary-pin-31337', pinUri: 'pkcs11:id=%02?pin-value=canary-uri-4242' }
  const ENV = 'canary-environment-5555'

  it.each(['', 'fails', 'garbage', 'refuses', 'silent', 'killed'])(
    'appears nowhere, whatever happens (%j)',
    async (behaviour) => {
      const path = writeConfig({
        ...CANARIES,
        ...(behaviour && { behaviour, only: 'signature' }),
      })
      // What it gets, it prints.
      const loud = `process.stderr.write(process.env.EXTERNAL_SIGNER_PLUGIN_CONFIG + process.env.KUBECRED_PKCS11_PIN + '\\n')\n`
      const code = readFileSync(scene.program, 'utf8').replace(
        'let request\n',
        `let request\n${loud}`,
      )
      writeFileSync(scene.program, code)
      const env = { ...process.env, KUBECRED_PKCS11_PIN: ENV }
      const cluster = await open(path, { env })
      const outcome = await (await keyOf(cluster))
        .sign(toSign('x'))
        .catch((error: unknown) => error)
      expect(outcome instanceof Error).toBe(behaviour !== '')
      const stderr = events.filter(({ type }) => type === 'plugin-stderr')
      expect(stderr.length).toBeGreaterThan(0)
      const credential = await cluster.credential()
      const shown = [outcome, events, cluster.status(), cluster, credential, inspect(cluster)]
      expectNoLeak(shown, [...Object.values(CANARIES), ENV, 'canary-uri-4242'])
    },
  )
})

describe.runIf(process.platform === 'linux')('a signer that keeps running', () => {
  const runner = fileURLToPath(new URL('../fixtures/leaves-signer.mjs', import.meta.url))

  it.each([
    ['does not keep a program alive that is done', 'ends', [0, null]],
    ['ends with a program that a signal ends', 'waits', [null, 'SIGTERM']],
  ])('%s', async (_, way, ended) => {
    const program = spawn(process.execPath, [runner, scene.folder, way, '{"deaf":"yes"}'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(program, 'exit')
    await once(program.stdout, 'data')
    if (way === 'waits') program.kill('SIGTERM')
    expect(await exited).toEqual(ended)
    const pids = scene.log().map(({ pid }) => pid)
    expect(pids.length).toBeGreaterThan(0)
    await vi.waitFor(() => expect(pids.filter(isRunning)).toEqual([]))
  })

  it.runIf(hasScript)('asks for a PIN on the terminal, and stays unlocked', async () => {
    const more = JSON.stringify({ behaviour: 'asks', only: 'signature' })
    const line = quoteWords(process.execPath, runner, scene.folder, 'ends', more)
    const program = new RunningProgram(...onTerminal(line))
    await program.until('out', /PIN: /)
    program.child.stdin?.write('open sesame\r')
    const { status, out } = await program.ended()
    expect(status).toBe(0)
    expect(out).toContain('signed')
    expect(scene.log().map(({ via, isTerminal }) => [via, isTerminal])).toContainEqual([
      'line',
      true,
    ])
  })
})
