import dns from 'node:dns'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

let sandbox: Sandbox
beforeEach(async () => {
  sandbox = await startSandbox()
})
afterEach(async () => {
  vi.restoreAllMocks()
  await sandbox.close()
})

/** Makes every lookup of a name fail, until the returned function is called. */
function failLookups(code: string): () => void {
  const failing = vi.spyOn(dns, 'lookup')
  // Called as lookup(name, options, callback) by every connection of Node.
  failing.mockImplementation(((name: string, _: unknown, callback: (error: Error) => void) => {
    callback(Object.assign(new Error(`getaddrinfo ${code} ${name}`), { code, hostname: name }))
  }) as unknown as typeof dns.lookup)
  return () => failing.mockRestore()
}

describe.each(['pool', 'https', 'http2'] as const)('a name server that fails (%s)', (transport) => {
  it.each([
    ['ENOTFOUND', 'could not resolve host'],
    ['EAI_AGAIN', 'temporary failure in name resolution'],
  ])(
    'with %s costs requests that need a connection, no others, and no plugin run',
    async (code, reason) => {
      const exec = await sandbox.plugin({ user: 'jane' })
      const server = `https://localhost:${new URL(sandbox.url).port}`
      const kubeconfig = sandbox.writeKubeconfig({ user: { exec }, server })
      await using cluster = await connect({ kubeconfig, transport })
      const ask = async (): Promise<number> => {
        const response = await cluster.fetch('/version')
        await response.arrayBuffer()
        return response.status
      }
      // Two, because a pool may not have noticed yet that a connection is free.
      expect(await Promise.all([ask(), ask()])).toEqual([200, 200])
      const recover = failLookups(code)
      expect(await ask()).toBe(200)
      sandbox.dropConnections()
      const failed = {
        code: 'ERR_SERVER_UNREACHABLE',
        message: `connection to ${server} failed: ${reason}`,
      }
      await expect(ask()).rejects.toMatchObject(failed)
      await expect(ask()).rejects.toMatchObject(failed)
      recover()
      expect(await ask()).toBe(200)
      expect(sandbox.pluginRuns).toBe(1)
    },
  )
})
