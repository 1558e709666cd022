import { connect as openSocket, type Socket } from 'node:net'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listen } from '../fixtures/proxies.ts'

let sandbox: Sandbox
beforeEach(async () => {
  sandbox = await startSandbox()
})
afterEach(() => sandbox.close())

/**
 * Starts a relay whose open connections can be stalled: they stay open, and nothing arrives any more.
 *
 * @param onDropped Called when the client sends something on a stalled connection.
 */
async function startRelay(port: number, onDropped: () => void) {
  const pairs: [near: Socket, far: Socket][] = []
  const proxy = await listen((near) => {
    const far = openSocket({ port, host: '127.0.0.1', noDelay: true })
    near.setNoDelay(true).pipe(far).pipe(near)
    far.on('error', () => near.destroy()).on('close', () => near.destroy())
    near.on('close', () => far.destroy())
    pairs.push([near, far])
  })
  /** Stalls the open connections, and returns their number. New ones work. */
  const stall = (): number => {
    const open = pairs.splice(0).filter(([near]) => !near.destroyed)
    for (const [near, far] of open) {
      far.unpipe(near).resume()
      near.unpipe(far).resume()
      near.on('data', onDropped)
    }
    return open.length
  }
  return Object.assign(proxy, { stall })
}

describe.each(['pool', 'https'] as const)('connections that stall (%s)', (transport) => {
  it('cost at most one request each, which ends with its signal, and no plugin run', async () => {
    const reason = new Error('waited long enough')
    let leaving = new AbortController()
    const port = Number(new URL(sandbox.url).port)
    await using relay = await startRelay(port, () => leaving.abort(reason))
    const exec = await sandbox.plugin({ user: 'jane' })
    const server = `https://127.0.0.1:${relay.port}`
    const kubeconfig = sandbox.writeKubeconfig({ user: { exec }, server })
    await using cluster = await connect({ kubeconfig, transport })
    /** Returns the status, or the reason if the request was sent on a stalled connection. */
    const ask = async (): Promise<unknown> => {
      leaving = new AbortController()
      try {
        const response = await cluster.fetch('/version', { signal: leaving.signal })
        await response.arrayBuffer()
        return response.status
      } catch (error) {
        return error
      }
    }
    const watching = new AbortController()
    const path = '/api/v1/namespaces?watch=true'
    const watch = await cluster.fetch(path, { signal: watching.signal })
    const reading = watch.arrayBuffer().catch((error: unknown) => error)
    // Leaves connections for the next requests.
    expect(await Promise.all([ask(), ask()])).toEqual([200, 200])

    const stalled = relay.stall()
    const outcomes: unknown[] = []
    for (let count = 0; count < 12; count += 1) outcomes.push(await ask())
    const stuck = outcomes.filter((outcome) => outcome !== 200)
    expect(new Set(stuck)).toEqual(new Set([reason]))
    expect(stuck.length).toBeLessThan(stalled)
    expect(outcomes.at(-1)).toBe(200)
    watching.abort(reason)
    expect(await reading).toBe(reason)
    expect(sandbox.pluginRuns).toBe(1)
  })
})
