import { expect, inject, it } from 'vitest'
import { seen } from './admin.ts'
import { writeCertificate } from './cases/rotation.ts'
import { type Driver, NAMESPACES } from './driver.ts'
import { loadDrivers } from './load-drivers.ts'
import { distinct, Scene } from './scene.ts'
import { until } from './until.ts'

/** Per transport: the number of parallel requests, and of rounds. */
const LANES = 8
const ROUNDS = inject('isLong') ? 25 : 3

/** All transports as one client; the query of a request selects the transport, so it is in the server's log. */
function together(drivers: readonly Driver[]): Driver {
  return {
    name: 'all',
    tellsErrors: undefined,
    async open(cluster, from) {
      const clients = await Promise.all(drivers.map((driver) => driver.open(cluster, from)))
      return {
        async send(request) {
          const client = clients[Number(/via=(\d+)/.exec(request.path)?.[1])]
          if (client === undefined) throw new Error(`no client for ${request.path}`)
          return client.send(request)
        },
        async close() {
          await Promise.all(clients.map((client) => client.close()))
        },
      }
    },
  }
}

it('after a rotation no transport uses the old certificate', async () => {
  const drivers = (await loadDrivers())
    .filter(({ runs }) => runs === 'here')
    .map(({ driver }) => driver)
    .filter(({ cannot }) => cannot?.['certificate rotated'] === undefined)
  expect(drivers.length).toBeGreaterThan(8)
  await using scene = await Scene.open(together(drivers), {
    kubeconfig: async (sandbox) => ({ user: await writeCertificate(sandbox, 'one') }),
  })
  const { sandbox } = scene
  const paths = drivers.map((_, at) => `${NAMESPACES}?via=${at}`)
  const userOf = async (path: string): Promise<string | undefined> => {
    expect((await scene.ask(path)).status).toBe(200)
    return seen(sandbox).findLast((record) => record.path === path)?.user
  }
  for (const path of paths) await scene.askAtOnce(3, path)
  expect(distinct(seen(sandbox).map(({ user }) => user))).toEqual(['one'])

  await writeCertificate(sandbox, 'two')
  for (const path of paths) {
    await until(async () => (await userOf(path)) === 'two')
  }
  const before = seen(sandbox).length
  const lanes = paths.flatMap((path) => Array.from({ length: LANES }, () => path))
  const statuses = await Promise.all(lanes.map((path) => scene.askInTurn(ROUNDS, path)))
  expect(distinct(statuses.flat())).toEqual([200])
  const after = seen(sandbox).slice(before)
  expect(after).toHaveLength(LANES * ROUNDS * drivers.length)
  const wrong = after.filter((record) => record.user !== 'two' || record.tlsSessionReused)
  expect(wrong).toEqual([])
}, 120_000)
