import { inspect } from 'node:util'
import * as client from '@kubernetes/client-node'
import { connect } from 'kubecred'
import { type CredentialError, isCredentialError } from 'kubecred/errors'
import { describe, expect, it } from 'vitest'
import { Stage } from './stage.ts'

const INSTALL_HINT = 'Get it from the shelf.'

/** Each sends a request with client-node 1.x, and resolves with its error. */
const REQUESTS: Readonly<Record<string, (stage: Stage) => Promise<unknown>>> = {
  'a generated API': ({ api }) => failureOf(api.listNamespace()),
  'a watch': ({ kc }) =>
    new Promise((resolve) => {
      void new client.Watch(kc).watch('/api/v1/namespaces', {}, () => {}, resolve)
    }),
}

const failureOf = (request: Promise<unknown>): Promise<unknown> =>
  request.then(
    () => expect.unreachable('the request must fail'),
    (error: unknown) => error,
  )

const openStage = (): Promise<Stage> =>
  Stage.open(client, {
    kubeconfig: () => ({
      user: { exec: { command: 'no-such-plugin', installHint: INSTALL_HINT } },
    }),
  })

/** The error that `cluster.fetch` rejects with, for the same kubeconfig. */
async function errorOfFetch(stage: Stage): Promise<CredentialError> {
  await using cluster = await connect({ kubeconfig: stage.path })
  const error = await failureOf(cluster.fetch('/api/v1/namespaces'))
  if (!isCredentialError(error)) throw error
  return error
}

describe('with client-node 1.x', () => {
  it.each(Object.entries(REQUESTS))(
    'the error of %s has the message, code and hint of cluster.fetch, also when printed',
    async (_, send) => {
      await using stage = await openStage()
      const { message, code, hint } = await errorOfFetch(stage)
      const error = await send(stage)
      expect(error).toMatchObject({ code, message: expect.stringContaining(message) })
      const printed = inspect(error)
      for (const part of [message, code, hint, INSTALL_HINT]) expect(printed).toContain(part)
    },
  )

  it('the error event of a WebSocket has our own error', async () => {
    await using stage = await openStage()
    const { message, code, hint } = await errorOfFetch(stage)
    const exec = new client.Exec(stage.kc)
    const opened = exec.exec('default', 'web', 'main', 'date', null, null, null, false)
    const { error } = (await failureOf(opened)) as { error: unknown }
    expect(isCredentialError(error)).toBe(true)
    expect(error).toMatchObject({ message, code, hint })
  })
})
