import { startSandbox } from '@kubecred/sandbox'
import { expect } from 'vitest'
import { seen } from '../admin.ts'
import { type Driver, returnsRefusals } from '../driver.ts'
import { distinct } from '../scene.ts'
import { infoFor, VaultStage } from '../vault-stage.ts'

/** A login whose CA does not verify its server is skipped; the other one is used. They never share connections. */
export async function wrongAuthority(driver: Driver): Promise<void> {
  await using other = await startSandbox()
  await using stage = await VaultStage.open(driver, {
    logins: ([sandbox]) => ({
      wrong: async () => {
        const info = await infoFor(driver, sandbox, 'wrong')
        return { ...info, caData: other.caPem, priority: 5 }
      },
      right: () => infoFor(driver, sandbox, 'right'),
    }),
  })
  // These connections are the user's own, and use the user's CA.
  const expected = driver.cannot?.['CA rotated'] === undefined ? 'right' : 'wrong'
  if (returnsRefusals(driver)) {
    expect(await stage.outcome()).toContainEqual(expect.stringMatching(/CERT|SIGNATURE|ISSUER/))
  }
  const answers = await Promise.all(Array.from({ length: 20 }, () => stage.outcome()))
  expect(distinct(answers.flat())).toEqual([200])
  // A request with its own credential must verify the server, too.
  const { token } = stage.sandbox.issueToken({ user: 'ann' })
  const headers = { authorization: `Bearer ${token}` }
  expect(await stage.outcome({ headers })).toEqual([200])
  const users = seen(stage.sandbox).map(({ tokenUser }) => tokenUser)
  expect(new Set(users)).toEqual(new Set([expected, 'ann']))
}
