import { constants, createHash, generateKeyPairSync, privateEncrypt, verify } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  CKA_MODULUS,
  CKM_ECDSA,
  CKM_RSA_PKCS_PSS,
  CKM_RSA_X_509,
  type Cryptoki,
} from '../../src/cryptoki.ts'
import { Pin } from '../../src/pin.ts'
import { type SignRequest, signWithKey } from '../../src/sign-with-key.ts'

/** A device that does what SoftHSM never does: it is slow, has a keypad, or lists a mechanism that it does not support. */
function deviceWith(functions: object): Cryptoki {
  return {
    C_GetMechanismList: () => [CKM_ECDSA, CKM_RSA_PKCS_PSS, CKM_RSA_X_509],
    C_GetAttributeValue: () => [],
    C_SignInit: () => {},
    C_SignAsync: async () => Buffer.alloc(64, 1),
    ...functions,
  } as unknown as Cryptoki
}

function requestFor(cryptoki: Cryptoki, more: Partial<SignRequest> = {}): SignRequest {
  const token = {
    ...{ slot: Buffer.alloc(8), slotId: 1n, label: 'kube', serial: '42', manufacturer: '' },
    ...{ model: '', flags: 0, minPinLength: 4, maxPinLength: 8 },
  }
  return {
    cryptoki,
    handle: Buffer.alloc(8),
    token,
    key: {
      ...{ handle: Buffer.alloc(8), id: Buffer.of(2), label: 'key' },
      ...{ kind: 'P-256', isAlwaysAuthenticated: false },
    },
    pin: undefined,
    scheme: 'ecdsa_secp256r1_sha256',
    digest: Buffer.alloc(32),
    notify: async () => {},
    ...more,
  }
}

describe('a device', () => {
  it('that is slow makes a notice ask for a touch', async () => {
    let touch = (_: Buffer): void => {}
    const cryptoki = deviceWith({
      C_SignAsync: () =>
        new Promise<Buffer>((resolve) => {
          touch = resolve
        }),
    })
    const notices: string[] = []
    const notify = async (text: string): Promise<void> => {
      notices.push(text)
      touch(Buffer.alloc(64, 1))
    }
    await signWithKey(requestFor(cryptoki, { notify }))
    expect(notices).toEqual(['Waiting for token "kube" (serial 42, slot 1): touch it if it blinks'])
  })

  it('with a keypad asks there for the PIN of each signature', async () => {
    const calls: unknown[] = []
    const cryptoki = deviceWith({ C_Login: (...args: unknown[]) => calls.push(args.slice(1)) })
    const { key } = requestFor(cryptoki)
    const notify = async (text: string): Promise<void> => void calls.push(text)
    const pin = new Pin('', 'device')
    await signWithKey(
      requestFor(cryptoki, { key: { ...key, isAlwaysAuthenticated: true }, pin, notify }),
    )
    expect(calls).toEqual([
      'Enter the PIN of token "kube" (serial 42, slot 1) on the device',
      [2, ''],
    ])
  })

  it('that lists PSS but rejects it gets a padded digest', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const n = Buffer.from(publicKey.export({ format: 'jwk' }).n ?? '', 'base64url')
    const tried: number[] = []
    const cryptoki = deviceWith({
      C_GetAttributeValue: () => [{ type: CKA_MODULUS, value: n }],
      C_SignInit: (_: Buffer, { mechanism }: { mechanism: number }) => {
        tried.push(mechanism)
        if (mechanism !== CKM_RSA_PKCS_PSS) return
        throw Object.assign(new Error(), { name: 'Pkcs11Error', code: 0x71 })
      },
      C_SignAsync: async (_: Buffer, padded: Buffer) =>
        privateEncrypt({ key: privateKey, padding: constants.RSA_NO_PADDING }, padded),
    })
    const { key } = requestFor(cryptoki)
    const message = Buffer.from('message')
    const signature = await signWithKey(
      requestFor(cryptoki, {
        key: { ...key, kind: 'RSA' },
        scheme: 'rsa_pss_rsae_sha256',
        digest: createHash('sha256').update(message).digest(),
      }),
    )
    expect(tried).toEqual([CKM_RSA_PKCS_PSS, CKM_RSA_X_509])
    const how = { key: publicKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }
    expect(verify('sha256', message, how, signature)).toBe(true)
  })

  it('that cancels a signature has its reason in the error', async () => {
    const cryptoki = deviceWith({
      C_SignAsync: async () => {
        throw Object.assign(new Error(), { name: 'Pkcs11Error', code: 0x50 })
      },
    })
    await expect(signWithKey(requestFor(cryptoki))).rejects.toThrow(
      'cannot sign with token "kube" (serial 42, slot 1): the operation was cancelled at the device',
    )
  })
})
