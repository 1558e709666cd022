import { nodeCrypto } from '../../src/node/node-crypto.ts'
import type { CredentialEvent } from '../../src/ports/observer.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import type { LoginHandler, LoginOptions } from '../../src/vault/login-handler.ts'
import type { OpenedLogin } from '../../src/vault/login-source.ts'
import type { Login } from '../../src/vault/read-connection-info.ts'
import { VaultAccess, type VaultPolicy } from '../../src/vault/vault-access.ts'

/** What a static login opens: its token, and nothing to watch. */
async function openStatic({
  connection,
  expiresAt,
  priority,
  trustEnv,
}: Login): Promise<OpenedLogin> {
  const { cluster, user, namespace } = connection
  return {
    acquire: async () => ({
      credential: { ...(user.token && { token: user.token }) },
      expiresAt,
      endpoint: { cluster, ca: undefined, namespace, trustEnv, priority },
    }),
    release: async () => {},
  }
}

/** A vault with a fake clock. */
export function openScene(
  handlers: Readonly<Record<string, LoginHandler | [LoginHandler, LoginOptions]>>,
  policy: Partial<VaultPolicy> = {},
) {
  const clock = new FakeClock(1_000_000_000)
  const events: CredentialEvent[] = []
  const ports = { clock, crypto: { ...nodeCrypto, jitter: () => 0 }, open: openStatic }
  const registered = Object.entries(handlers).map(([id, given]) => {
    const [handler, options] = Array.isArray(given) ? given : [given, {}]
    return { id, handler, options }
  })
  const vault = new VaultAccess(registered, ports, {
    freezeLimitMs: 60_000,
    queueLimit: 100,
    priorityGraceMs: 0,
    log: 'all',
    ...policy,
  })
  vault.watch((event) => events.push(event))
  return { vault, clock, events, settle }
}

/** Lets everything that can go on without time go on. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await new Promise((resolve) => setImmediate(resolve))
}
