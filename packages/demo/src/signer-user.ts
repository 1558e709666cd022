import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Environment } from '@kubecred/cli/internal'
import type { Sandbox } from '@kubecred/sandbox'
import { type DemoUser, READS } from './demo-user.ts'
import { openIssuer } from './issuer.ts'
import type { Pacing } from './pacing.ts'
import { environmentOf } from './plugin-users.ts'
import { SoftToken, type TokenTools } from './soft-token.ts'
import { signerUser, writeKubeconfig } from './write-kubeconfig.ts'

const ID = 'kim'
/** After this part of its lifetime the certificate in a token is replaced, so that the token always has a fresh one. */
const RENEW_AFTER = 0.25
/** The compiled file, because the signer runs as a program of its own. */
const PROGRAM = fileURLToPath(new URL('signer-program.js', import.meta.url))

/** Kim, whose key cannot be read, and a function that stops what was started for it. */
export interface SignerUser {
  readonly user: DemoUser
  readonly close: () => Promise<void>
}

/** Creates Kim with a key that was generated in a SoftHSM token and stays there. */
export async function createKimWithToken(
  sandbox: Sandbox,
  tools: TokenTools,
  env: Environment,
  { signerLifeMs }: Pacing,
): Promise<SignerUser> {
  const folder = join(sandbox.folder, 'softhsm')
  mkdirSync(folder, { mode: 0o700 })
  const token = await SoftToken.create(tools, folder)
  const certify = async (): Promise<void> => {
    const request = { user: ID, groups: ['operators'], lifetimeMs: signerLifeMs }
    const issued = await sandbox.issueCertificate({ ...request, publicKey: token.publicKey })
    await token.addCertificate(issued.certificate)
  }
  await certify()
  const closing = new AbortController()
  const renewal = renewPeriodically(certify, signerLifeMs * RENEW_AFTER, closing.signal)
  return {
    user: describe('SoftHSM', 'a SoftHSM token', {
      kubeconfig: writeKubeconfig(sandbox, ID, signerUser(token.configuration)),
      env: { ...environmentOf(sandbox, env), ...token.env },
    }),
    async close() {
      closing.abort()
      await renewal
    },
  }
}

/** Creates Kim with a key that another process has generated and keeps in its memory. */
export async function createKimWithProcess(
  sandbox: Sandbox,
  env: Environment,
  { signerLifeMs }: Pacing,
): Promise<SignerUser> {
  if (process.platform === 'win32')
    throw new Error('a signer must be an executable file on Windows')
  const issuer = join(sandbox.folder, 'issuer.sock')
  const server = await openIssuer(issuer, async (publicKey) => {
    const request = { user: ID, groups: ['operators'], lifetimeMs: signerLifeMs, publicKey }
    const { certificate } = await sandbox.issueCertificate(request)
    return certificate
  })
  const program = join(sandbox.folder, 'demo-signer.mjs')
  const text = `#!${process.execPath}\nimport ${JSON.stringify(PROGRAM)}\n`
  writeFileSync(program, text, { mode: 0o700 })
  return {
    user: describe('another process', 'another process', {
      kubeconfig: writeKubeconfig(sandbox, ID, signerUser({ pathExec: program, issuer })),
      env: environmentOf(sandbox, env),
    }),
    async close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function describe(
  where: string,
  article: string,
  rest: Pick<DemoUser, 'kubeconfig' | 'env'>,
): DemoUser {
  return {
    ...rest,
    id: ID,
    description: `has a key in ${article} that signs but cannot be read`,
    credential: 'certificate',
    keyLocation: where,
    requests: READS,
  }
}

async function renewPeriodically(
  certify: () => Promise<void>,
  everyMs: number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(everyMs, undefined, { signal }).catch(() => {})
    // A failure may be temporary, and the last certificate is still valid.
    if (!signal.aborted) await certify().catch(() => {})
  }
}
