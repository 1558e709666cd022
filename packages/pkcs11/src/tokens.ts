import type { TokenFilter } from './configuration.ts'
import { CKF_TOKEN_INITIALIZED, type Cryptoki, type Handle, trimPadding } from './cryptoki.ts'
import { explained } from './explain-failure.ts'
import { TokenError } from './token-error.ts'

/** A token that is plugged in, with what it reports about itself. */
export interface Token {
  readonly slot: Handle
  readonly slotId: bigint
  readonly label: string
  readonly serial: string
  readonly manufacturer: string
  readonly model: string
  readonly flags: number
  readonly minPinLength: number
  readonly maxPinLength: number
}

/** Lists the tokens that are plugged in and initialised. */
export function listTokens(cryptoki: Cryptoki): Token[] {
  return explained('list the tokens', () => cryptoki.C_GetSlotList(true))
    .flatMap((slot) => {
      try {
        return [readToken(cryptoki, slot)]
      } catch {
        // Unplugged meanwhile, or not supported by the library: skip it.
        return []
      }
    })
    .filter(({ flags }) => (flags & CKF_TOKEN_INITIALIZED) !== 0)
}

/** Reads what a token reports about itself. Read it again before a login: the PIN flags change. */
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
    minPinLength: info.minPinLen,
    maxPinLength: info.maxPinLen,
  }
}

/**
 * Returns the one token that matches a filter.
 *
 * @throws {TokenError} No token matches, or more than one; the message lists them.
 */
export function chooseToken(tokens: readonly Token[], filter: TokenFilter): Token {
  const matching = tokens.filter((token) => matches(token, filter))
  const [chosen, another] = matching
  if (chosen !== undefined && another === undefined) return chosen
  const wanted = describeTokenFilter(filter)
  if (chosen !== undefined) {
    const found = matching.map(describeToken).join(', ')
    throw new TokenError(`${matching.length} tokens match${wanted}: ${found}`, {
      hint: 'Add tokenLabel, or tokenSerial if the labels are equal.',
    })
  }
  if (tokens.length === 0) {
    throw new TokenError('the library finds no token', {
      hint: 'Plug the device in, and check that its service (such as pcscd) is running and that you have access to it.',
    })
  }
  const [only] = tokens
  const example = tokens.length === 1 && only !== undefined ? only.label : undefined
  throw new TokenError(`no token matches${wanted}; found ${tokens.map(describeToken).join(', ')}`, {
    hint:
      filter.slotId !== undefined && example !== undefined
        ? `Slot numbers change: replace slotId by tokenLabel: ${JSON.stringify(example)}`
        : 'Correct tokenLabel or tokenSerial, or plug in the right device.',
  })
}

/** Describes a token for messages. */
export function describeToken({ label, serial, slotId }: Token): string {
  return `${JSON.stringify(label)} (serial ${serial || 'none'}, slot ${slotId})`
}

function matches(token: Token, filter: TokenFilter): boolean {
  const names = ['slotId', 'label', 'serial', 'manufacturer', 'model'] as const
  return names.every((name) => filter[name] === undefined || filter[name] === token[name])
}

function describeTokenFilter({ slotId, label, serial, manufacturer, model }: TokenFilter): string {
  const parts = [
    slotId === undefined ? [] : [`slotId ${slotId}`],
    label === undefined ? [] : [`the label ${JSON.stringify(label)}`],
    serial === undefined ? [] : [`the serial ${JSON.stringify(serial)}`],
    manufacturer === undefined ? [] : [`the manufacturer ${JSON.stringify(manufacturer)}`],
    model === undefined ? [] : [`the model ${JSON.stringify(model)}`],
  ].flat()
  return parts.length === 0 ? '' : ` ${parts.join(' and ')}`
}
