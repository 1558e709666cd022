import { describe, it } from 'vitest'
import { CASES, type Case, type Driver, returnsRefusals, takesBodies } from './driver.ts'
import { onVault } from './on-vault.ts'
import { describeTransport, LIMIT_MS } from './table.ts'
import { closeWhileFrozen, freezeAndThaw, loginError } from './vault-cases/frozen.ts'
import { actsAs, actsAsAWhole, actsAsItsOwn } from './vault-cases/impersonation.ts'
import { loginAhead, nextLogin, nextLoginWithBody, wholeLogins } from './vault-cases/next-login.ts'
import {
  foreignServer,
  movedServer,
  ownAuthorizationToSeveral,
  severalServers,
} from './vault-cases/several-servers.ts'
import { wrongAuthority } from './vault-cases/wrong-ca.ts'

/** Cases that only apply to a vault. */
const RUNS: Readonly<Record<string, (driver: Driver) => Promise<void>>> = {
  'logs in again before the credential expires': loginAhead,
  'continues with the next login when one is refused': nextLogin,
  'sends a body again with each remaining login': nextLoginWithBody,
  'sends a request as one user, never as a mix of two': wholeLogins,
  'impersonates the user of its login, and no other': actsAs,
  'takes the whole impersonation from its login, or from the caller': actsAsAWhole,
  'never uses the impersonation of another login': actsAsItsOwn,
  'sends to each of two servers only its own requests': severalServers,
  'sends nothing to a server without a login': foreignServer,
  "sends a caller's own Authorization to the requested server": ownAuthorizationToSeveral,
  'follows a login to another server, and does not send its credential to the old one': movedServer,
  'waits when no login is left, and continues with the next one': freezeAndThaw,
  'fails with the reasons of all login handlers': loginError,
  'skips a login whose CA does not verify its server': wrongAuthority,
  'ends with the cluster': closeWhileFrozen,
}

/**
 * The cases in which transports could differ with a vault: those that need a connection with another identity or to
 * another server, and those that wait.
 *
 * The other cases do not depend on the transport: they are run for one transport of each kind (cluster.fetch, bridge,
 * dispatcher).
 */
export const OF_EACH: readonly Case[] = [
  'warm',
  '401 once',
  'revoked mid-stream',
  'certificate rotated',
  'CA rotated',
  'abort',
]

/**
 * Runs the behaviour table, and the cases above, for one transport with credentials from a vault.
 *
 * Whether an unsupported case really fails is tested without a vault.
 */
export function describeOnVault(driver: Driver, cases: readonly Case[] = CASES): void {
  const tried = onVault(driver)
  const canSendAgain = takesBodies(tried) && !returnsRefusals(tried)
  const isPossible = (run: unknown): boolean =>
    run === nextLoginWithBody ? canSendAgain : run !== actsAsAWhole || takesBodies(tried)
  const possible = cases.filter((name) => driver.cannot?.[name] === undefined)
  describeTransport(tried, possible)
  describe.concurrent(tried.name, () => {
    for (const [name, run] of Object.entries(RUNS)) {
      if (isPossible(run)) it(name, () => run(tried), LIMIT_MS)
    }
  })
}
