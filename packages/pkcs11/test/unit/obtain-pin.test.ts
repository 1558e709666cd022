import { describe, expect, it } from 'vitest'
import {
  CKF_PROTECTED_AUTHENTICATION_PATH,
  CKF_USER_PIN_COUNT_LOW,
  CKF_USER_PIN_FINAL_TRY,
  CKF_USER_PIN_LOCKED,
} from '../../src/cryptoki.ts'
import { obtainPin } from '../../src/obtain-pin.ts'
import type { Pin } from '../../src/pin.ts'
import type { Token } from '../../src/tokens.ts'

/** A token with PIN flags that SoftHSM, which never locks, does not set. */
const tokenWith = (flags: number): Token => ({
  slot: Buffer.alloc(8),
  slotId: 1n,
  label: 'kube',
  serial: '42',
  manufacturer: '',
  model: '',
  flags,
  minPinLength: 4,
  maxPinLength: 8,
})

interface Asked {
  readonly questions: string[]
  readonly notices: string[]
  readonly pin: Promise<Pin>
}

function obtain(
  flags: number,
  {
    pin,
    typed = '1234',
    wasRejected = false,
  }: { pin?: string; typed?: string; wasRejected?: boolean } = {},
): Asked {
  const questions: string[] = []
  const notices: string[] = []
  const access = {
    environment: {},
    ask: async (question: string) => {
      questions.push(question)
      return typed
    },
    notify: async (text: string) => void notices.push(text),
  }
  const settings = { value: pin, env: 'KUBECRED_PKCS11_PIN' }
  return { questions, notices, pin: obtainPin(tokenWith(flags), settings, access, wasRejected) }
}

const NAME = '"kube" (serial 42, slot 1)'

describe('a PIN', () => {
  it.each([
    [0, `PIN of token ${NAME}: `],
    [CKF_USER_PIN_COUNT_LOW, `PIN of token ${NAME} (a wrong PIN was entered; few tries left): `],
    [CKF_USER_PIN_FINAL_TRY, `PIN of token ${NAME} (LAST TRY before the token locks): `],
  ])('is asked for with a warning about the tries left (flags %i)', async (flags, question) => {
    const { questions, pin } = obtain(flags)
    expect((await pin).expose()).toBe('1234')
    expect(questions).toEqual([question])
  })

  it('is not asked for when the token is locked', async () => {
    const { questions, pin } = obtain(CKF_USER_PIN_LOCKED, { pin: '1234' })
    await expect(pin).rejects.toThrow('is locked after too many wrong PINs')
    expect(questions).toEqual([])
  })

  it('is used if it is stored and more than one try is left', async () => {
    expect((await obtain(CKF_USER_PIN_COUNT_LOW, { pin: '4321' }).pin).expose()).toBe('4321')
  })

  it('is not used for the last try if it is stored', async () => {
    const { questions, pin } = obtain(CKF_USER_PIN_FINAL_TRY, { pin: '4321' })
    await expect(pin).rejects.toThrow(
      'has one try left, which is not used for a stored PIN (from the kubeconfig)',
    )
    expect(questions).toEqual([])
  })

  it('is not tried again if it is stored and was rejected', async () => {
    const { pin } = obtain(0, { pin: '4321', wasRejected: true })
    await expect(pin).rejects.toThrow('was rejected before and is not tried again')
  })

  it('is entered on the device if it has a keypad', async () => {
    const { questions, notices, pin } = obtain(CKF_PROTECTED_AUTHENTICATION_PATH, { pin: '4321' })
    expect(await pin).toMatchObject({ from: 'device', length: 0 })
    expect([questions, notices]).toEqual([[], [`Enter the PIN of token ${NAME} on the device`]])
  })

  it.each(['', '123', '123456789', 'äöüßä'])(
    'does not cost a try if its length is wrong: %j',
    async (typed) => {
      await expect(obtain(0, { typed }).pin).rejects.toThrow('the token takes 4 to 8 bytes')
    },
  )

  it('is zeroed by wipe()', async () => {
    const pin = await obtain(0).pin
    pin.wipe()
    expect(pin.expose()).toBe('\0\0\0\0')
  })
})
