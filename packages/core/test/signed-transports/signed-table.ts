import { describe, it } from 'vitest'
import { type Case, type Driver, strongest } from '../transports/driver.ts'
import { describeTransport, LIMIT_MS } from '../transports/table.ts'
import { wholeLogins } from '../transports/vault-cases/next-login.ts'
import { foreignServer, severalServers } from '../transports/vault-cases/several-servers.ts'
import { abortWhileSigning, closeWhileSigning } from './cases/aborts.ts'
import { failures } from './cases/failures.ts'
import { atOnce, inTurn } from './cases/few-signatures.ts'
import { headerOnly } from './cases/header-only.ts'
import { withSigningKey } from './with-signing-key.ts'

/** The cases that depend on how connections are made. The others are about tokens. */
const ROWS: readonly Case[] = [
  'cold herd',
  'warm',
  '401 once',
  'revoked mid-stream',
  'certificate rotated',
  'certificate refused in the handshake',
  'CA rotated',
  "caller's own Authorization",
  'POST with a string',
  'POST with a stream',
  'upgrade',
  'upgrade refused once',
  'abort',
  'proxy',
  'redirect to another origin',
  'server restart',
]

/** The cases that are run for every transport; all are run for one transport of each kind. */
export const OF_EACH: readonly Case[] = [
  'certificate rotated',
  'certificate refused in the handshake',
  "caller's own Authorization",
  'POST with a stream',
  'upgrade',
]

type Runs = Readonly<Record<string, (driver: Driver) => Promise<void>>>

/** Cases that only apply to signing keys, and those of a vault that need connections of several identities. */
const RUNS: Runs = {
  'requests one after the other cost one signature': inTurn,
  'requests at once cost few signatures': atOnce,
  'reports the error of a signer, and recovers': failures,
  'rejects a caller that aborts during signing': abortWhileSigning,
  'ends with the cluster during signing': closeWhileSigning,
  'sends a request as one user, never as half of two': wholeLogins,
  'sends to each of two servers what is for it': severalServers,
  'sends nothing to a server that no login is for': foreignServer,
}

const HEADER_ONLY: Runs = { 'refuses a key that only signs, and signs nothing': headerOnly }

/** Runs one transport with signing keys. Whether an unsupported case really fails is tested with other keys. */
export function describeSigned(driver: Driver, cases: readonly Case[] = ROWS): void {
  const tried = withSigningKey(driver)
  const hasCertificates = strongest(tried) === 'both'
  const rows = hasCertificates ? cases.filter((name) => tried.cannot?.[name] === undefined) : []
  if (rows.length > 0) describeTransport(tried, rows)
  describe.concurrent(tried.name, () => {
    for (const [name, run] of Object.entries(hasCertificates ? RUNS : HEADER_ONLY)) {
      it(name, () => run(tried), LIMIT_MS)
    }
  })
}
