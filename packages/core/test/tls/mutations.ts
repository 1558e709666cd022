import fc from 'fast-check'

/** A function that corrupts bytes. */
export type Mutation = (bytes: Buffer) => Buffer

/** Arbitrary mutations: flip a bit, set a byte, remove, insert, duplicate, reverse or truncate bytes. */
export function mutation(): fc.Arbitrary<Mutation> {
  const place = anyPlace()
  const length = fc.integer({ min: 1, max: 40 })
  return fc.oneof(
    fc.tuple(place, fc.nat(7)).map(([at, bit]) => flipBit(at, bit)),
    fc.tuple(place, fc.nat(255)).map(([at, value]) => setByte(at, value)),
    fc.tuple(place, length).map(([at, count]) => splice(at, count, () => Buffer.alloc(0))),
    fc
      .tuple(place, fc.uint8Array({ minLength: 1, maxLength: 40 }))
      .map(([at, more]) => splice(at, 0, () => Buffer.from(more))),
    fc
      .tuple(place, length)
      .map(([at, count]) => splice(at, count, (taken) => Buffer.concat([taken, taken]))),
    fc
      .tuple(place, length)
      .map(([at, count]) => splice(at, count, (taken) => Buffer.from(taken).reverse())),
    place.map(
      (at): Mutation =>
        (bytes) =>
          bytes.subarray(0, Math.floor(at * bytes.length)),
    ),
  )
}

/**
 * Any place in a sequence, as a share of its length: from 0 to below 1.
 *
 * Not `fc.double`, which is uniform in its bits: nine of ten places would be the very first.
 */
export function anyPlace(): fc.Arbitrary<number> {
  const steps = 2 ** 20
  return fc.noBias(fc.nat(steps - 1)).map((step) => step / steps)
}

/** Applies a mutation to the concatenated parts. */
export function mutate(parts: readonly Buffer[], change: Mutation): Buffer[] {
  // The boundaries stay: they say when each part is sent.
  const lengths = parts.map(({ length }) => length)
  let rest = change(Buffer.concat(parts))
  return lengths.map((length, index) => {
    const part = index === lengths.length - 1 ? rest : rest.subarray(0, length)
    rest = rest.subarray(part.length)
    return part
  })
}

function flipBit(at: number, bit: number): Mutation {
  return (bytes) => setByte(at, (bytes[place(at, bytes)] ?? 0) ^ (1 << bit))(bytes)
}

function setByte(at: number, value: number): Mutation {
  return (bytes) => {
    const changed = Buffer.from(bytes)
    changed[place(at, bytes)] = value
    return changed
  }
}

function splice(at: number, count: number, put: (taken: Buffer) => Buffer): Mutation {
  return (bytes) => {
    const start = place(at, bytes)
    const taken = bytes.subarray(start, start + count)
    return Buffer.concat([bytes.subarray(0, start), put(taken), bytes.subarray(start + count)])
  }
}

function place(at: number, bytes: Buffer): number {
  return Math.floor(at * bytes.length)
}
