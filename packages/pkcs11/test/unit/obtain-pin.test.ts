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

/** SoftHSM never locks itself, so what tokens say about that comes from here. */
const tokenWith = (flags: number): Token => ({
  slot: Buffer.alloc(8),
  slotId: 1n,
  label: 'kube',
  serial: '42',
  manufacturer: '',
  model: '',
  flags,
  shortestPin: 4,
  longestPin: 8,
})

interface Asked {
  readonly questions: string[]
  readonly told: string[]
  readonly pin: Promise<Pin>
}

function obtain(
  flags: number,
  {
    pin,
    typed = '1234',
    wasRefused = false,
  }: { pin?: string; typed?: string; wasRefused?: boolean } = {},
): Asked {
  const questions: string[] = []
  const told: string[] = []
  const access = {
    environment: {},
    ask: async (question: string) => {
      questions.push(question)
      return typed
    },
    tell: async (text: string) => void told.push(text),
  }
  const wish = { value: pin, env: 'KUBECRED_PKCS11_PIN' }
  return { questions, told, pin: obtainPin(tokenWith(flags), wish, access, wasRefused) }
}

const NAME = '"kube" (serial 42, slot 1)'

describe('a PIN', () => {
  it.each([
    [0, `PIN of token ${NAME}: `],
    [CKF_USER_PIN_COUNT_LOW, `PIN of token ${NAME} (a wrong PIN was entered; few tries left): `],
    [CKF_USER_PIN_FINAL_TRY, `PIN of token ${NAME} (LAST TRY before it locks itself): `],
  ])('is asked for with what the token says about tries', async (flags, question) => {
    const { questions, pin } = obtain(flags)
    expect((await pin).expose()).toBe('1234')
    expect(questions).toEqual([question])
  })

  it('is not asked for when the token is locked', async () => {
    const { questions, pin } = obtain(CKF_USER_PIN_LOCKED, { pin: '1234' })
    await expect(pin).rejects.toThrow('is locked after too many wrong PINs')
    expect(questions).toEqual([])
  })

  it('that is stored is used while there are tries', async () => {
    expect((await obtain(CKF_USER_PIN_COUNT_LOW, { pin: '4321' }).pin).expose()).toBe('4321')
  })

  it('that is stored never gets the last try', async () => {
    const { questions, pin } = obtain(CKF_USER_PIN_FINAL_TRY, { pin: '4321' })
    await expect(pin).rejects.toThrow('has one try left, and a stored PIN (from the kubeconfig)')
    expect(questions).toEqual([])
  })

  it('that is stored and was refused is not tried again', async () => {
    const { pin } = obtain(0, { pin: '4321', wasRefused: true })
    await expect(pin).rejects.toThrow('was refused before and is not tried again')
  })

  it('is entered on the device where it has keys', async () => {
    const { questions, told, pin } = obtain(CKF_PROTECTED_AUTHENTICATION_PATH, { pin: '4321' })
    expect(await pin).toMatchObject({ from: 'device', length: 0 })
    expect([questions, told]).toEqual([[], [`Enter the PIN of token ${NAME} on the device`]])
  })

  it.each(['', '123', '123456789', 'äöüßä'])(
    'of a wrong length costs no try: %j',
    async (typed) => {
      await expect(obtain(0, { typed }).pin).rejects.toThrow('the token takes 4 to 8 bytes')
    },
  )

  it('is gone after it was wiped', async () => {
    const pin = await obtain(0).pin
    pin.wipe()
    expect(pin.expose()).toBe('\0\0\0\0')
  })
})
