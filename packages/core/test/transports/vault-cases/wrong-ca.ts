import { startSandbox } from '@kubecred/sandbox'
import { expect } from 'vitest'
import { seen } from '../admin.ts'
import { type Driver, handsRefusalsBack } from '../driver.ts'
import { distinct } from '../scene.ts'
import { infoFor, VaultStage } from '../vault-stage.ts'

/** A login that does not trust its server is no use; the one beside it is. Their connections never mix. */
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
  // These connections are the user's, and trust whom the user says.
  const expected = driver.cannot?.['CA rotated'] === undefined ? 'right' : 'wrong'
  if (handsRefusalsBack(driver)) {
    expect(await stage.outcome()).toContainEqual(expect.stringMatching(/CERT|SIGNATURE|ISSUER/))
  }
  const answers = await Promise.all(Array.from({ length: 20 }, () => stage.outcome()))
  expect(distinct(answers.flat())).toEqual([200])
  // Also what has a credential of its own must trust the server.
  const { token } = stage.sandbox.issueToken({ user: 'ann' })
  const headers = { authorization: `Bearer ${token}` }
  expect(await stage.outcome({ headers })).toEqual([200])
  const users = seen(stage.sandbox).map(({ tokenUser }) => tokenUser)
  expect(new Set(users)).toEqual(new Set([expected, 'ann']))
}
