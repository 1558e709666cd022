import { createHash, randomBytes } from 'node:crypto'

/**
 * Pads a digest with EMSA-PSS (RFC 8017, 9.1.1), for tokens that support only RSA without padding (CKM_RSA_X_509).
 *
 * libtpm2_pkcs11 needs it: a TPM uses the longest possible salt, while TLS 1.3 requires one as long as the hash, so the
 * library does not list CKM_RSA_PKCS_PSS. SoftHSM, ykcs11 and OpenSC since 0.20 list it, and pad in software if needed.
 *
 * @returns The padded digest, as long as the modulus.
 */
export function pssEncode(digest: Uint8Array, hash: string, modulusBits: number): Buffer {
  const length = Math.ceil((modulusBits - 1) / 8)
  const salt = randomBytes(digest.length)
  const h = createHash(hash).update(Buffer.alloc(8)).update(digest).update(salt).digest()
  const zeros = length - digest.length - salt.length - 2
  if (zeros < 0) throw new RangeError(`RSA with ${modulusBits} bits is too short for ${hash}`)
  const block = Buffer.concat([Buffer.alloc(zeros), Buffer.of(1), salt])
  const mask = mgf1(h, block.length, hash)
  const masked = block.map((byte, at) => byte ^ (mask[at] ?? 0))
  masked[0] = (masked[0] ?? 0) & (0xff >> (8 * length - (modulusBits - 1)))
  const encoded = Buffer.concat([masked, h, Buffer.of(0xbc)])
  const whole = Math.ceil(modulusBits / 8)
  return Buffer.concat([Buffer.alloc(whole - encoded.length), encoded])
}

/** The mask generation function MGF1 (RFC 8017, B.2.1). */
function mgf1(seed: Buffer, length: number, hash: string): Buffer {
  const blocks: Buffer[] = []
  for (let count = 0; Buffer.concat(blocks).length < length; count += 1) {
    const number = Buffer.alloc(4)
    number.writeUInt32BE(count)
    blocks.push(createHash(hash).update(seed).update(number).digest())
  }
  return Buffer.concat(blocks).subarray(0, length)
}
