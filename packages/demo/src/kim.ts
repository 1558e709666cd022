import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Environment } from '@kubecred/cli/internal'
import type { Sandbox } from '@kubecred/sandbox'
import { type Character, READS } from './character.ts'
import { environmentOf } from './characters.ts'
import { openIssuer } from './issuer.ts'
import type { Rhythm } from './rhythm.ts'
import { SoftToken, type TokenTools } from './soft-token.ts'
import { signerUser, writeKubeconfig } from './write-kubeconfig.ts'

const ID = 'kim'
/** In a token there is always one with most of its life before it: a new one is made after this part of it. */
const NEW_IN_TOKEN = 0.25
/** The compiled file: a signer is a program, and no program can be started from what is not compiled. */
const PROGRAM = fileURLToPath(new URL('signer-program.js', import.meta.url))

/** Kim, whose key nobody can read, and how to end what was started for it. */
export interface Kim {
  readonly character: Character
  readonly close: () => Promise<void>
}

/** Kim with a key that was made in a token of SoftHSM and stays there. */
export async function makeKimWithToken(
  sandbox: Sandbox,
  tools: TokenTools,
  env: Environment,
  { signerLifeMs }: Rhythm,
): Promise<Kim> {
  const folder = join(sandbox.folder, 'softhsm')
  mkdirSync(folder, { mode: 0o700 })
  const token = await SoftToken.create(tools, folder)
  const certify = async (): Promise<void> => {
    const wanted = { user: ID, groups: ['operators'], lifetimeMs: signerLifeMs }
    const issued = await sandbox.issueCertificate({ ...wanted, publicKey: token.publicKey })
    await token.addCertificate(issued.certificate)
  }
  await certify()
  const ending = new AbortController()
  const renewal = keepCertified(certify, signerLifeMs * NEW_IN_TOKEN, ending.signal)
  return {
    character: describe('SoftHSM', 'a SoftHSM token', {
      kubeconfig: writeKubeconfig(sandbox, ID, signerUser(token.configuration)),
      env: { ...environmentOf(sandbox, env), ...token.env },
    }),
    async close() {
      ending.abort()
      await renewal
    },
  }
}

/** Kim with a key that another process has made, and keeps in its memory. */
export async function makeKimWithProcess(
  sandbox: Sandbox,
  env: Environment,
  { signerLifeMs }: Rhythm,
): Promise<Kim> {
  if (process.platform === 'win32') throw new Error('a signer must be an executable file here')
  const issuer = join(sandbox.folder, 'issuer.sock')
  const server = await openIssuer(issuer, async (publicKey) => {
    const wanted = { user: ID, groups: ['operators'], lifetimeMs: signerLifeMs, publicKey }
    const { certificate } = await sandbox.issueCertificate(wanted)
    return certificate
  })
  const program = join(sandbox.folder, 'demo-signer.mjs')
  const text = `#!${process.execPath}\nimport ${JSON.stringify(PROGRAM)}\n`
  writeFileSync(program, text, { mode: 0o700 })
  return {
    character: describe('another process', 'another process', {
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
  inFull: string,
  rest: Pick<Character, 'kubeconfig' | 'env'>,
): Character {
  return {
    ...rest,
    id: ID,
    introduction: `has a key in ${inFull}: it signs, and nobody can read it`,
    shows: 'certificate',
    keyIsIn: where,
    deeds: READS,
  }
}

async function keepCertified(
  certify: () => Promise<void>,
  everyMs: number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(everyMs, undefined, { signal }).catch(() => {})
    // What fails now may work the next time; till then the last one is good.
    if (!signal.aborted) await certify().catch(() => {})
  }
}
