import { describe, it } from 'vitest'
import { CASES, type Case, type Driver, handsRefusalsBack, takesBodies } from './driver.ts'
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

/** What only a vault can be asked. */
const RUNS: Readonly<Record<string, (driver: Driver) => Promise<void>>> = {
  'logs in again ahead of the end': loginAhead,
  'goes on with the next login when one is refused': nextLogin,
  'sends a body again with each login that is left': nextLoginWithBody,
  'sends a request as one user, never as half of two': wholeLogins,
  'acts as whom its login names, and as nobody else': actsAs,
  'acts as all that its login says, or as all that the caller says': actsAsAWhole,
  'never acts as whom another login names': actsAsItsOwn,
  'sends to each of two servers what is for it': severalServers,
  'sends nothing to a server that no login is for': foreignServer,
  "sends a caller's own Authorization to the server that is meant": ownAuthorizationToSeveral,
  'follows a login to another server, and shows it to nobody else': movedServer,
  'waits when nothing is left, and goes on with the next login': freezeAndThaw,
  'says that nobody could log in': loginError,
  'leaves a login alone that does not trust its server': wrongAuthority,
  'ends with the cluster': closeWhileFrozen,
}

/**
 * The rows that a vault could spoil for one transport and not for another: those that need a connection under
 * another identity or to another server, and those that wait.
 *
 * What the other rows ask is either below the seam, where a lease is a lease, or above it, where nobody
 * knows of vaults. They are run for one transport of each seam.
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
 * Runs the behaviour table against one transport whose credentials come from a vault, and what only a vault does.
 *
 * That a cell cannot hold at all is seen without a vault.
 */
export function describeOnVault(driver: Driver, cases: readonly Case[] = CASES): void {
  const tried = onVault(driver)
  const canSendAgain = takesBodies(tried) && !handsRefusalsBack(tried)
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
