import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type CredentialEvent, connect } from 'kubecred'
import { Vault, type VaultOptions } from 'kubecred/vault'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { linesOf, makeMetrics } from '../metrics/scene.ts'

let sandbox: Sandbox
beforeEach(async () => {
  sandbox = await startSandbox()
})
afterEach(() => sandbox.close())

/** What is heard of a first login and a second one after a refusal; each has one attempt that fails. */
async function hear(log: VaultOptions['log']) {
  let logins = 0
  const vault = new Vault(log === undefined ? {} : { log })
  vault.onLogin(
    ({ logger, attempt, reason }) => {
      logger.info(`info ${reason}`)
      logger.debug(`debug ${reason}`)
      logger.warn(`warn ${reason}`)
      logger.error(`error ${reason}`)
      if (attempt === 1) throw new Error('once more')
      logins += 1
      const { token } = sandbox.issueToken({ user: `login-${logins}` })
      return { server: sandbox.url, caData: sandbox.caPem, token }
    },
    { id: 'corp', backoffMs: 1 },
  )
  const heard: string[] = []
  const metrics = await makeMetrics()
  const observer = (event: CredentialEvent): void => {
    metrics.observer(event)
    if (event.type === 'log' && event.reason !== undefined) heard.push(event.message)
    if (event.type === 'logged-in') heard.push(`logged-in ${event.reason}`)
    if (event.type === 'login-retried') heard.push('login-retried')
    if (event.type === 'refused' || event.type === 'depleted') heard.push(event.type)
  }
  await using cluster = await connect({ vault, observer })
  expect((await cluster.fetch('/version')).status).toBe(200)
  sandbox.revoke('login-1')
  expect((await cluster.fetch('/api/v1/namespaces')).status).toBe(200)
  return {
    heard: [...new Set(heard)],
    logins: linesOf(await metrics.register.metrics(), 'kubecred_login_total'),
  }
}

const TROUBLE = ['warn first', 'error first', 'login-retried', 'refused', 'depleted']
const MORE_TROUBLE = ['warn depleted', 'error depleted']
const FIRST = ['info first', 'debug first', 'logged-in first']
const AGAIN = ['info depleted', 'debug depleted', 'logged-in depleted']

it.each([
  [undefined, [...TROUBLE, ...MORE_TROUBLE, ...FIRST, ...AGAIN]],
  ['all', [...TROUBLE, ...MORE_TROUBLE, ...FIRST, ...AGAIN]],
  ['first', [...TROUBLE, ...MORE_TROUBLE, ...FIRST]],
  ['none', [...TROUBLE, ...MORE_TROUBLE]],
] as const)(
  'log: %s decides which successful logins are reported, and failures always are',
  async (log, expected) => {
    const { heard, logins } = await hear(log)
    expect(heard.sort()).toEqual([...expected].sort())
    // Numbers are never silenced.
    expect(logins).toEqual(['kubecred_login_total{handler="corp",outcome="new"} 2'])
  },
)
