import { Agent, request } from 'undici'
import type { Play } from './play.ts'
import type { Script } from './script.ts'

const WATCH = '/api/v1/namespaces?watch=true'
const MANY = 40
const SEVERAL = 6
const SOON_MS = 2500
const LATER_MS = 3200

async function create(play: Play, name: string): Promise<void> {
  const { token } = play.sandbox.issueToken({ user: 'root' })
  const dispatcher = new Agent({ connect: { ca: play.sandbox.caPem } })
  await request(`${play.sandbox.url}/api/v1/namespaces`, {
    dispatcher,
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ metadata: { name } }),
  })
  await dispatcher.close()
}

/** Opens one client with a plugin that prints a credential. */
async function begin(play: Play, answer: Parameters<Play['answer']>[0]): Promise<void> {
  await play.answer(answer)
  await play.client.open({ kubeconfig: await play.kubeconfig() })
}

/** Sends requests one after the other and records whether each ran the plugin. */
async function sendSeveral(play: Play): Promise<void> {
  const results: unknown[] = []
  for (let nth = 0; nth < SEVERAL; nth += 1) results.push(...(await play.client.send({})))
  play.note({
    results: [...new Set(results)].join(', '),
    eachRuns: play.sandbox.pluginRuns >= SEVERAL,
  })
}

/** Starts an informer, changes something, creates an object, and checks whether the informer receives it. */
const informing =
  (
    first: Parameters<Play['answer']>[0],
    change: (play: Play) => void | Promise<void>,
  ): Script['play'] =>
  async (play) => {
    await begin(play, first)
    play.note({ synced: await play.client.inform() })
    await change(play)
    await create(play, 'made-later')
    play.note({ informed: await play.client.informed('made-later') })
  }

/** Scripts for what kubectl cannot show, because it exits after one request. */
export const ownScripts: readonly Script[] = [
  {
    id: 'many-first',
    about: 'many concurrent requests, before there is a credential',
    play: async (play) => {
      await begin(play, { token: 'jane' })
      await play.send({ times: MANY })
    },
  },
  {
    id: 'many-refused',
    about: 'many concurrent requests with a token that was revoked',
    play: async (play) => {
      await begin(play, { token: 'first' })
      await play.send()
      play.credentials.revoke('first')
      await play.answer({ token: 'second' })
      await play.send({ times: MANY })
      await play.send()
    },
  },
  {
    id: 'many-refused-certificate',
    about: 'many concurrent requests with a certificate that was revoked',
    play: async (play) => {
      await begin(play, { certificate: 'first' })
      await play.send()
      play.credentials.revoke('first')
      await play.answer({ certificate: 'second' })
      await play.send({ times: MANY })
      await play.send()
    },
  },
  {
    id: 'many-after-the-end',
    about: 'many concurrent requests after the token has expired',
    play: async (play) => {
      await begin(play, { token: 'first', expiresInMs: SOON_MS })
      await play.send()
      play.credentials.revoke('first')
      await play.answer({ token: 'second' })
      await play.wait(LATER_MS)
      await play.send({ times: MANY })
      // How often kubecred ran the plugin ahead of time depends on timing.
      play.forget('runs')
    },
  },
  {
    id: 'failing-plugin',
    about: 'requests one after the other with a plugin that fails',
    play: async (play) => {
      await begin(play, { stdout: '', exitCode: 1 })
      await sendSeveral(play)
    },
  },
  {
    id: 'failing-refresh',
    about: 'a plugin that fails after the server has refused its token',
    play: async (play) => {
      await begin(play, { token: 'first' })
      await play.send()
      play.credentials.revoke('first')
      await play.answer({ stdout: '', exitCode: 1 })
      await play.send()
    },
  },
  {
    id: 'same-token-again',
    about: 'a plugin that hands out the refused token again',
    play: async (play) => {
      await begin(play, { token: 'bad' })
      await sendSeveral(play)
    },
  },
  {
    id: 'body-refused',
    about: 'a body that is posted with a token that was revoked',
    play: async (play) => {
      await begin(play, { token: 'first' })
      await play.send()
      play.credentials.revoke('first')
      await play.answer({ token: 'second' })
      await play.send({
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"metadata":{"name":"posted"}}',
      })
    },
  },
  {
    id: 'watch-outlives-token',
    about: 'a watch whose token is revoked',
    play: async (play) => {
      await begin(play, { token: 'first' })
      play.note({ watch: await play.client.watch(WATCH) })
      play.credentials.revoke('first')
      await play.answer({ token: 'second' })
      await play.send()
      await create(play, 'made-later')
      play.note({ watchesSee: await play.client.see('made-later') })
    },
  },
  {
    id: 'watch-and-new-certificate',
    about: 'a watch while the plugin hands out another certificate',
    play: async (play) => {
      await begin(play, { certificate: 'first' })
      play.note({ watch: await play.client.watch(WATCH) })
      await play.answer({ certificate: 'second' })
      // One refused request makes the plugin run.
      play.refuseOnce()
      await play.send()
      await create(play, 'made-later')
      play.note({ watchesSee: await play.client.see('made-later') })
    },
  },
  {
    id: 'informer',
    about: 'an informer',
    play: informing({ token: 'jane' }, () => {}),
  },
  {
    id: 'informer-token-taken-back',
    about: 'an informer whose token is revoked, and whose connection breaks',
    play: informing({ token: 'first' }, async (play) => {
      play.credentials.revoke('first')
      await play.answer({ token: 'second' })
      play.sandbox.dropConnections()
    }),
  },
  {
    id: 'informer-certificate-taken-back',
    about: 'an informer whose certificate is revoked, and whose connection breaks',
    play: informing({ certificate: 'first' }, async (play) => {
      play.credentials.revoke('first')
      await play.answer({ certificate: 'second' })
      play.sandbox.dropConnections()
    }),
  },
  {
    id: 'informer-server-restarts',
    about: 'an informer whose server restarts',
    play: informing({ token: 'jane' }, (play) => play.sandbox.restart({ downMs: 300 })),
  },
]
