import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { agentPaths } from '../../src/agent/agent-paths.ts'
import { Home } from '../run/home.ts'

const preload = [fileURLToPath(new URL('../fixtures/throws-on-signal.mjs', import.meta.url))]

it('an agent that ends with an unexpected error writes it, without secrets', async () => {
  await using home = new Home()
  const { socket } = agentPaths(home.env())
  const agent = home.start(['agent', 'serve'], {}, { preload })
  await expect.poll(() => existsSync(socket), { timeout: 30_000 }).toBe(true)
  agent.child.kill('SIGUSR2')
  expect(await agent.end()).toBe(70)
  expect(agent.err).toMatch(
    /^kubecred: internal error [0-9a-f]{8}: TypeError: broken, token=\[secret\]\n {4}at .*throws-on-signal/,
  )
})
