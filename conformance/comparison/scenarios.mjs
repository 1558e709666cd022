// The scenarios of the comparison. Each function returns the observed facts as plain data.
import { setTimeout as pause } from 'node:timers/promises'
import { inScene } from './scene.mjs'

const LIFE_MS = 5000
const PLUGIN_MS = 1000
const MAX_WAIT_MS = 30_000
const MAX_HANG_MS = 75_000
const MAX_FLOOD_MS = 20_000
const MAX_FLOOD_MIB = 1024
const SIGN_IN = 'Run: example login'

export const SCENARIOS = {
  cold,
  expiry,
  revoked,
  revokedEarly,
  hang,
  flood,
  failure,
  death,
  certificate,
  busy,
  informer,
}

/** 100 concurrent requests without a credential yet. */
async function cold({ command }) {
  return await inScene(
    command,
    { plugin: { delayMs: PLUGIN_MS } },
    async (client, { sandbox, runs }) => {
      const { results } = await client.do('send', { times: 100, waitMs: 60_000 })
      const { httpVersion } = sandbox.requests.at(-1)
      return {
        runs: runs(),
        ok: results.filter(({ status }) => status === 200).length,
        httpVersion,
      }
    },
  )
}

/** 15 s of requests from 8 workers, with 5 s tokens and a plugin that takes 1 s. */
async function expiry({ command }) {
  const plugin = { lifetimeMs: LIFE_MS, delayMs: PLUGIN_MS }
  return await inScene(command, { plugin }, async (client, { runs }) => {
    await statuses(client, 1)
    const load = { workers: 8, ms: 3 * LIFE_MS, slowMs: PLUGIN_MS / 2 }
    return { ...(await client.do('load', load)), runs: runs() }
  })
}

/** The server revokes a token without an expiry. */
async function revoked({ command }) {
  return await inScene(command, { plugin: {} }, async (client, { sandbox, runs }) => {
    await statuses(client, 1)
    sandbox.revoke('jane')
    return { next: await statuses(client, 3), runs: runs() }
  })
}

/** The server revokes a token 5 s before its expiry. */
async function revokedEarly({ command }) {
  const plugin = { lifetimeMs: LIFE_MS }
  return await inScene(command, { plugin }, async (client, { sandbox, runs }) => {
    await statuses(client, 1)
    sandbox.revoke('jane')
    const next = await statuses(client, 3)
    await pause(LIFE_MS)
    return { next, afterExpiry: (await statuses(client, 1))[0], runs: runs() }
  })
}

/** Three concurrent requests, and a plugin that hangs. */
async function hang({ command }) {
  return await inScene(command, { script: 'exec sleep 1000' }, async (client, { runs }) => {
    const { results } = await client.do('send', { times: 3, waitMs: MAX_HANG_MS })
    return { runs: runs(), results }
  })
}

/** A plugin that prints endlessly. Stops after 20 s, or when the client uses 1 GiB more. */
async function flood({ command }) {
  return await inScene(command, { script: 'exec yes' }, async (client) => {
    const before = client.memory
    const startedAt = performance.now()
    let answer
    client.do('send', { times: 1, waitMs: 2 * MAX_FLOOD_MS }).then((said) => {
      answer = said
    })
    let grewMiB = 0
    let ms = 0
    while (answer === undefined && ms < MAX_FLOOD_MS && grewMiB < MAX_FLOOD_MIB) {
      await pause(50)
      grewMiB = Math.max(grewMiB, client.memory - before)
      ms = performance.now() - startedAt
    }
    const ended = answer?.ended === true
    return { ms, grewMiB, ended, error: ended ? client.lastError : answer?.results?.[0].error }
  })
}

/** A plugin that fails with a message on standard error. */
async function failure({ command }) {
  const script = `echo '${SIGN_IN}' >&2\nexit 3`
  return await inScene(command, { script }, async (client) => {
    return { error: (await send(client)).error }
  })
}

/** A plugin that is killed. */
async function death({ command }) {
  return await inScene(command, { script: 'kill -9 $$' }, async (client) => {
    return { error: (await send(client)).error }
  })
}

/** 5 s certificates, one watch, and requests until the first certificate has expired. */
async function certificate({ command }) {
  const plugin = { credential: 'certificate', lifetimeMs: LIFE_MS }
  return await inScene(command, { plugin }, async (client, { createNamespace, runs }) => {
    await client.do('follow', { kind: 'watch' })
    await client.do('saw', { name: 'default', waitMs: 5000 })
    const end = performance.now() + LIFE_MS + 1500
    const meanwhile = []
    while (performance.now() < end) {
      meanwhile.push(...(await statuses(client, 1)))
      await pause(200)
    }
    // The server checks the dates of a certificate on every request, so a 200 means the new one is used.
    const after = await statuses(client, 3)
    await createNamespace('later')
    const { seen } = await client.do('saw', { name: 'later', waitMs: 3000 })
    const failed = meanwhile.filter((status) => status !== 200).length
    return { seen, after, failed, runs: runs() }
  })
}

/** One request that the server answers once with an error, with and without Retry-After. */
async function busy({ command }) {
  const facts = {}
  for (const [name, status, headers] of [
    ['429', 429, { 'Retry-After': '1' }],
    ['503', 503, { 'Retry-After': '1' }],
    ['500', 500, {}],
  ]) {
    facts[name] = await inScene(command, { plugin: {} }, async (client, { sandbox }) => {
      let answers = 0
      sandbox.respondWith(() => {
        answers += 1
        const body = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status }
        return answers === 1 ? { status, headers, body } : undefined
      })
      return { status: (await statuses(client, 1))[0], sent: answers }
    })
  }
  return facts
}

/** The server ends an informer's watch normally while the plugin fails. Then the plugin works again. */
async function informer({ command, informer: withInformer = command }) {
  const plugin = { lifetimeMs: 2000 }
  return await inScene(withInformer, { plugin }, async (client, scene) => {
    let isFirst = true
    scene.sandbox.respondWith(async ({ path }) => {
      if (!path.includes('watch=') || !isFirst) return undefined
      isFirst = false
      scene.breakPlugin()
      await pause(3000)
      return { status: 200, body: '' }
    })
    await client.do('follow', { kind: 'informer' })
    await pause(8000)
    if (!client.isAlive) return { ended: true, error: client.lastError }
    scene.healPlugin()
    await scene.createNamespace('later')
    const { seen } = await client.do('saw', { name: 'later', waitMs: 45_000 })
    return { ended: false, seen: seen === true }
  })
}

async function statuses(client, count) {
  const seen = []
  for (let nth = 0; nth < count; nth += 1) {
    seen.push((await send(client)).status ?? 'error')
  }
  return seen
}

async function send(client) {
  const { results } = await client.do('send', { times: 1, waitMs: MAX_WAIT_MS })
  return results[0]
}
