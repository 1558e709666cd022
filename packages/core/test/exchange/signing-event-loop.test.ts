import { monitorEventLoopDelay } from 'node:perf_hooks'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, type ConnectOptions, type CredentialEvent, connect } from 'kubecred'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SignerFixture } from '../fixtures/signer-fixture.ts'

/** How long the signer takes for each signature. */
const SIGNING_MS = 3000
const WINDOW_MS = 150
/** The inaccuracy of timers on a busy machine: smaller differences mean nothing. */
const FLOOR_MS = 10

let sandbox: Sandbox
let signer: SignerFixture
let kubeconfig: string
/** Holds the certificate, which the other clusters share. */
let holder: Cluster
beforeAll(async () => {
  sandbox = await startSandbox()
  signer = new SignerFixture(await sandbox.issueCertificate({ user: 'jane' }))
  const config = { pathExec: signer.program, folder: signer.folder, stays: 'yes' }
  const slow = { ...config, delay: String(SIGNING_MS) }
  const user = { 'auth-provider': { name: 'externalSigner', config: slow } }
  kubeconfig = sandbox.writeKubeconfig({ user })
  holder = await open()
}, 30_000)
afterAll(async () => {
  await holder.close()
  await signer[Symbol.asyncDispose]()
  await sandbox.close()
})

/** Opens a cluster that has its certificate but no connection yet. */
async function open(
  events: CredentialEvent[] = [],
  transport?: ConnectOptions['transport'],
): Promise<Cluster> {
  const observer = (event: CredentialEvent): void => void events.push(event)
  const cluster = await connect({ kubeconfig, observer, transport })
  await cluster.credential()
  return cluster
}

/**
 * Returns the 99th percentile of the event loop delay, in milliseconds, for each window until the work is done.
 *
 * If the window ended later than that, its delay counts: the percentile misses a loop that is blocked completely.
 */
async function watchLoop(work: Promise<unknown>): Promise<number[]> {
  const windows: number[] = []
  let isOver = false
  const over = work.finally(() => {
    isOver = true
  })
  while (!isOver) {
    const delay = monitorEventLoopDelay({ resolution: 5 })
    const startedAt = performance.now()
    delay.enable()
    await new Promise((resolve) => setTimeout(resolve, WINDOW_MS))
    delay.disable()
    const late = performance.now() - startedAt - WINDOW_MS
    windows.push(Math.max(late, delay.percentile(99) / 1e6))
  }
  await over
  return windows
}

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN

const isSlow = (windows: readonly number[], idle: readonly number[]): boolean =>
  median(windows) > 2 * median(idle) + FLOOR_MS ||
  // One long pause among many windows. Any machine pauses for a moment, but not for a third of the signature.
  Math.max(...windows) > 2 * Math.max(...idle) + SIGNING_MS / 3

describe('while a signature takes 3 seconds', () => {
  it('the event loop is as responsive as when idle', async () => {
    await using cluster = await open()
    const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
    const before = await watchLoop(wait(SIGNING_MS / 2))
    const signing = await watchLoop(cluster.fetch('/api').then((response) => response.text()))
    const after = await watchLoop(wait(SIGNING_MS / 2))
    const idle = [...before, ...after]
    expect(signing.length).toBeGreaterThan(SIGNING_MS / WINDOW_MS / 4)
    expect(isSlow(signing, idle)).toBe(false)
    // Proves that a signature that blocks the event loop would be noticed.
    const blocked = await watchLoop(wait(WINDOW_MS / 3).then(() => blockLoop(SIGNING_MS / 5)))
    expect(isSlow(blocked, idle)).toBe(true)
  })

  it('requests to other clusters continue', async () => {
    const events: CredentialEvent[] = []
    // Another transport opens its own connections.
    await using slow = await open(events, 'https')
    const { token } = sandbox.issueToken({ user: 'max' })
    await using other = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { token } }) })
    let done = 0
    let isSigned = false
    const signed = slow.fetch('/api').then((response) => {
      isSigned = true
      return response.status
    })
    while (!isSigned) {
      const response = await other.fetch('/api/v1/namespaces')
      await response.text()
      if (!isSigned) done += 1
    }
    expect(await signed).toBe(200)
    expect(events.filter(({ type }) => type === 'signed')).toHaveLength(1)
    expect(done).toBeGreaterThan(20)
  })
})

function blockLoop(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
