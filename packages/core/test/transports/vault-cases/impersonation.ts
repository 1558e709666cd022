import type { Sandbox } from '@kubecred/sandbox'
import { loginWithKubeconfig } from 'kubecred/logins'
import type { ConnectionInfo, LoginContext } from 'kubecred/vault'
import { expect } from 'vitest'
import { asAdmin, seen } from '../admin.ts'
import { type Driver, returnsRefusals, type Sent, strongest, takesBodies } from '../driver.ts'
import { distinct } from '../scene.ts'
import { infoFor, VaultStage } from '../vault-stage.ts'

const ROUNDS = 8

/** The server always sees the impersonated user, never the more powerful user of the credential. */
export async function actsAs(driver: Driver): Promise<void> {
  await using stage = await VaultStage.open(driver, {
    logins: ([sandbox]) => ({ it: (context) => logInAs(driver, sandbox, context, 'root', 'less') }),
  })
  const { sandbox, client, vault } = stage
  expect(vault.status()?.logins).toMatchObject([{ handler: 'it', as: 'less' }])
  const gets = Array.from({ length: ROUNDS }, (): Partial<Sent> => ({}))
  const requests = [
    ...gets,
    // An empty user name: the server ignores it, so it must not disable the impersonation.
    { headers: { 'impersonate-user': '' } },
    ...(takesBodies(driver) ? [review()] : []),
  ]
  const answers = await Promise.all(requests.map((request) => stage.outcome(request)))
  expect(distinct(answers.flat())).toEqual(takesBodies(driver) ? [200, 201] : [200])
  if (client.upgrade !== undefined) {
    await asAdmin(sandbox, 'POST', '/api/v1/namespaces/default/pods', { metadata: { name: 'web' } })
    const upgraded = await client.upgrade({ namespace: 'default', pod: 'web' })
    expect(await upgraded.echo('hello')).toBe('hello')
    await upgraded.close()
    expect(seen(sandbox).at(-1)).toMatchObject({ status: 101, user: 'less' })
  }
  expect(distinct(pairs(sandbox))).toEqual(['root is less'])
}

/** Uid, groups and extra values are all from the login, or all from the caller. */
export async function actsAsAWhole(driver: Driver): Promise<void> {
  await using stage = await VaultStage.open(driver, {
    logins: ([sandbox]) => ({ it: (context) => logInAs(driver, sandbox, context, 'root', 'less') }),
  })
  const who = async (headers: Record<string, string> = {}): Promise<unknown> => {
    const { text } = await stage.ask(review(headers))
    return (JSON.parse(text) as { status: { userInfo: unknown } }).status.userInfo
  }
  expect(await who()).toMatchObject({
    username: 'less',
    uid: 'uid of less',
    groups: expect.arrayContaining(['one', 'two']) as unknown,
    extra: { why: ['test'] },
  })
  const own = await who({ 'Impersonate-User': 'mallory' })
  expect(own).toMatchObject({ username: 'mallory' })
  expect(JSON.stringify(own)).not.toMatch(/"one"|"two"|uid of less|why/)
}

/** With several logins, the impersonation of one is never sent with the credential of another. */
export async function actsAsItsOwn(driver: Driver): Promise<void> {
  await using stage = await VaultStage.open(driver, {
    logins: ([sandbox]) => ({
      ann: (context) => logInAs(driver, sandbox, context, 'ann', 'less'),
      bob: (context) => logInAs(driver, sandbox, context, 'bob', 'fewer'),
      carl: async () => ({ ...(await infoFor(driver, sandbox, 'carl')), priority: 10 }),
    }),
  })
  const { sandbox } = stage
  const ask = (): Promise<unknown[]> => stage.outcome()
  expect(distinct((await Promise.all(Array.from({ length: 24 }, ask))).flat())).toEqual([200])
  expect(distinct(pairs(sandbox)).length).toBeGreaterThan(1)
  // Each is revoked while it is in use, so the next login takes over.
  for (const user of ['ann', 'bob']) {
    sandbox.revoke(user)
    sandbox.revokeCertificates(user)
    const answers = (await Promise.all(Array.from({ length: 8 }, ask))).flat()
    if (!returnsRefusals(driver)) expect(distinct(answers)).toEqual([200])
  }
  expect(seen(sandbox).filter(({ status }) => status === 401)).not.toEqual([])
  const allowed = ['ann is less', 'bob is fewer', 'carl is carl']
  expect(pairs(sandbox).filter((pair) => !allowed.includes(pair))).toEqual([])
}

/** The user entry of a cluster admin, with the strongest credential that the transport supports. */
async function logInAs(
  driver: Driver,
  sandbox: Sandbox,
  context: LoginContext,
  user: string,
  impersonate: string,
): Promise<ConnectionInfo | undefined> {
  const who = { user, groups: ['system:masters'] }
  const { token } = sandbox.issueToken(who)
  const certificate = strongest(driver) === 'both' ? await sandbox.issueCertificate(who) : {}
  const kubeconfig = sandbox.writeKubeconfig({
    user: {
      token,
      ...certificate,
      impersonate,
      impersonateUid: `uid of ${impersonate}`,
      impersonateGroups: ['one', 'two'],
      impersonateExtra: { why: ['test'] },
    },
  })
  return loginWithKubeconfig(context, { kubeconfig })
}

function review(headers: Record<string, string> = {}): Sent {
  return {
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'SelfSubjectReview',
    }),
  }
}

/** The user of the credential, and the user that the server saw. */
function pairs(sandbox: Sandbox): string[] {
  return seen(sandbox)
    .filter(({ status, path }) => status !== 401 && !path.startsWith('/version'))
    .map(({ tokenUser, certificateUser = tokenUser, user }) =>
      tokenUser === certificateUser
        ? `${tokenUser} is ${user}`
        : `${tokenUser} and ${certificateUser} are ${user}`,
    )
}
