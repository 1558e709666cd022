import type { TokenWish } from './configuration.ts'
import { CKF_TOKEN_INITIALIZED, type Cryptoki, type Handle, trimPadding } from './cryptoki.ts'
import { explained } from './explain-failure.ts'
import { TokenError } from './token-error.ts'

/** A token that is plugged in, with what it says about itself. */
export interface Token {
  readonly slot: Handle
  readonly slotId: bigint
  readonly label: string
  readonly serial: string
  readonly manufacturer: string
  readonly model: string
  readonly flags: number
  readonly shortestPin: number
  readonly longestPin: number
}

/** Lists the tokens that are plugged in and set up. */
export function listTokens(cryptoki: Cryptoki): Token[] {
  return explained('list the tokens', () => cryptoki.C_GetSlotList(true))
    .flatMap((slot) => {
      try {
        return [readToken(cryptoki, slot)]
      } catch {
        // Pulled out in between, or of a kind that the library does not know: there are others.
        return []
      }
    })
    .filter(({ flags }) => (flags & CKF_TOKEN_INITIALIZED) !== 0)
}

/** Asks a token about itself: the flags of its PIN change. */
export function readToken(cryptoki: Cryptoki, slot: Handle): Token {
  const info = cryptoki.C_GetTokenInfo(slot)
  return {
    slot,
    slotId: slot.length >= 8 ? slot.readBigUInt64LE() : BigInt(slot.readUInt32LE()),
    label: trimPadding(info.label),
    serial: trimPadding(info.serialNumber),
    manufacturer: trimPadding(info.manufacturerID),
    model: trimPadding(info.model),
    flags: info.flags,
    shortestPin: info.minPinLen,
    longestPin: info.maxPinLen,
  }
}

/**
 * Finds the one token that is meant.
 *
 * @throws {TokenError} When there is none or more than one; it lists those that are there.
 */
export function chooseToken(tokens: readonly Token[], wish: TokenWish): Token {
  const fitting = tokens.filter((token) => fits(token, wish))
  const [chosen, another] = fitting
  if (chosen !== undefined && another === undefined) return chosen
  const wanted = describeWish(wish)
  if (chosen !== undefined) {
    const those = fitting.map(describeToken).join(', ')
    throw new TokenError(`${fitting.length} tokens fit${wanted}: ${those}`, {
      hint: 'Add tokenLabel, or tokenSerial where labels are equal.',
    })
  }
  if (tokens.length === 0) {
    throw new TokenError('the library sees no token', {
      hint: 'Plug the device in; check that its service (such as pcscd) runs and that you may use it.',
    })
  }
  const [only] = tokens
  const example = tokens.length === 1 && only !== undefined ? only.label : undefined
  throw new TokenError(`no token fits${wanted}; there is ${tokens.map(describeToken).join(', ')}`, {
    hint:
      wish.slotId !== undefined && example !== undefined
        ? `Slot numbers change: in place of slotId write tokenLabel: ${JSON.stringify(example)}`
        : 'Correct tokenLabel or tokenSerial, or plug the right device in.',
  })
}

/** How a token is called in messages. */
export function describeToken({ label, serial, slotId }: Token): string {
  return `${JSON.stringify(label)} (serial ${serial || 'none'}, slot ${slotId})`
}

function fits(token: Token, wish: TokenWish): boolean {
  const names = ['slotId', 'label', 'serial', 'manufacturer', 'model'] as const
  return names.every((name) => wish[name] === undefined || wish[name] === token[name])
}

function describeWish({ slotId, label, serial, manufacturer, model }: TokenWish): string {
  const said = [
    slotId === undefined ? [] : [`slotId ${slotId}`],
    label === undefined ? [] : [`the label ${JSON.stringify(label)}`],
    serial === undefined ? [] : [`the serial ${JSON.stringify(serial)}`],
    manufacturer === undefined ? [] : [`the manufacturer ${JSON.stringify(manufacturer)}`],
    model === undefined ? [] : [`the model ${JSON.stringify(model)}`],
  ].flat()
  return said.length === 0 ? '' : ` ${said.join(' and ')}`
}
