import { startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { Vault } from 'kubecred/vault'
import { expect, it } from 'vitest'

it('headers() returns headers for cluster.server, even if requests moved to another server while it waited', async () => {
  const one = await startSandbox()
  const two = await startSandbox()
  let logins = 0
  let proceed = (): void => {}
  const asked = new Promise<void>((resolve) => {
    proceed = resolve
  })
  let isAsked = (): void => {}
  const asking = new Promise<void>((resolve) => {
    isAsked = resolve
  })
  const vault = new Vault()
    .onLogin(
      async () => {
        logins += 1
        if (logins > 1) {
          isAsked()
          await asked
        }
        const { token } = one.issueToken({ user: 'first' })
        return { server: one.url, caData: one.caPem, token, priority: 10 }
      },
      { id: 'one' },
    )
    .onLogin(
      () => {
        const { token } = two.issueToken({ user: 'second' })
        return { server: two.url, caData: two.caPem, token }
      },
      { id: 'two' },
    )
  const cluster = await connect({ vault })
  await cluster.fetch('/api/v1/namespaces')
  expect(cluster.server).toBe(one.url)
  const refused = await cluster.headers()
  const better = cluster.reportRefused(refused).catch(() => false)
  await asking
  const waiting = cluster.headers()
  // A path goes to any server that is logged in: the current server changes.
  await cluster.fetch('/api/v1/namespaces')
  expect(cluster.server).toBe(two.url)
  proceed()
  const headers = await waiting
  const answer = await cluster.fetch(`${cluster.server}/api/v1/namespaces`, { headers })
  expect(answer.status).toBe(200)
  expect(two.requests.at(-1)?.user).toBe('second')
  expect(two.requests.map(({ user }) => user)).not.toContain('first')
  await better
  await cluster.close()
  await one.close()
  await two.close()
})
