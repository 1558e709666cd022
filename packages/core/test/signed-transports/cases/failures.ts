import { isCredentialError } from 'kubecred/errors'
import { expect } from 'vitest'
import { SignerFailedError } from '../../../src/errors/index.ts'
import { codesOf } from '../../transports/codes-of.ts'
import type { Driver } from '../../transports/driver.ts'
import { openSigned } from '../signed-stage.ts'

type Failure = (signature: () => Buffer) => Promise<Uint8Array>

/** What can go wrong with a signature, and its error code. */
const FAILURES: readonly (readonly [code: string, says: RegExp, fail: Failure])[] = [
  [
    'ERR_SIGNER_FAILED',
    /the card is locked/,
    async () => {
      throw new SignerFailedError('card', 'gave no signature: the card is locked')
    },
  ],
  // A custom key may throw anything, even what looks like a network error.
  [
    'ERR_SIGNER_FAILED',
    /the card was pulled out/,
    async () => {
      throw Object.assign(new Error('the card was pulled out'), { code: 'ECONNRESET' })
    },
  ],
  [
    'ERR_SIGNATURE_INVALID',
    /not made with the key/,
    async (signature) => signature().fill(0, 8, 16),
  ],
]

/** The caller gets the error of the signer, as its client passes it on; the next signature succeeds. */
export async function failures(driver: Driver): Promise<void> {
  let fail: Failure | undefined
  await using signed = await openSigned(driver, {
    sign: async (signature) => (fail === undefined ? signature() : fail(signature)),
  })
  const { stage, key } = signed
  for (const [code, says, failing] of FAILURES) {
    fail = failing
    const before = key.requests.length
    const error = await stage.ask().then(
      ({ status }) => status,
      (reason: unknown) => reason,
    )
    expect(codesOf(error)).toContain(code)
    expect(shapeOf(error as Error, code)).toBe(driver.tellsErrors)
    expect(`${(error as Error).message} ${(error as Error).cause}`).toMatch(says)
    // Tried once: a token locks itself after a few wrong PINs.
    expect(key.requests).toHaveLength(before + 1)
  }
  const outcomes = await Promise.all(Array.from({ length: 5 }, () => stage.outcome()))
  for (const codes of outcomes) expect(codes).toContain('ERR_SIGNATURE_INVALID')
  expect(stage.sandbox.requests).toEqual([])
  fail = undefined
  expect(await stage.outcome()).toEqual([200])
}

/** How a client passes on one of our errors. */
function shapeOf(error: Error & { code?: unknown }, code: string): Driver['tellsErrors'] {
  if (isCredentialError(error)) return 'as it is'
  if (isCredentialError(error.cause)) return 'as the cause'
  return error.code === code ? 'by code and message' : undefined
}
