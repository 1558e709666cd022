import { LiveState } from '@kubecred/cli/internal'
import { connect } from 'kubecred'
import { expect, it } from 'vitest'
import { showIdentities } from '../src/shown-identities.ts'

it('the page lists the identities in one order, whichever is ready first', async () => {
  const state = new LiveState({ title: 'test', now: () => 0 })
  const shown = showIdentities(state)
  for (const name of ['kim', 'robot', 'jane'] as const) {
    const cluster = await connect({ server: 'http://127.0.0.1:9', env: {} })
    shown[name].attach(cluster)
    await cluster.close()
  }
  expect(state.snapshot().identities.map(({ id }) => id)).toEqual(['jane', 'robot', 'kim'])
})

it('the page leaves out an identity that could not be set up', async () => {
  const state = new LiveState({ title: 'test', now: () => 0 })
  const { robot } = showIdentities(state)
  const cluster = await connect({ server: 'http://127.0.0.1:9', env: {} })
  robot.attach(cluster)
  await cluster.close()
  expect(state.snapshot().identities.map(({ id }) => id)).toEqual(['robot'])
})
