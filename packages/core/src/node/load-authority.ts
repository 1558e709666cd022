import { X509Certificate } from 'node:crypto'
import { CertificateInvalidError, FileUnreadableError } from '../errors/index.ts'
import type { ClusterTarget } from '../kubeconfig/connection.ts'
import type { Files } from '../ports/files.ts'

/**
 * Reads the certificate authorities of a cluster as PEM; undefined means the system's.
 *
 * Node ignores garbage among the authorities and would then trust nobody, or worse the system's: what
 * cannot be parsed is an error here.
 *
 * @throws {FileUnreadableError | CertificateInvalidError}
 */
export async function loadAuthority(
  { certificateAuthority, name }: ClusterTarget,
  files: Files,
): Promise<string | undefined> {
  if (certificateAuthority === undefined) return undefined
  if (certificateAuthority.from === 'data') {
    const where = name === undefined ? 'the cluster' : `cluster ${JSON.stringify(name)}`
    return checkAuthority(certificateAuthority.data, `certificate-authority-data of ${where}`)
  }
  const { path } = certificateAuthority
  return checkAuthority(await read(path, files), `certificate-authority ${JSON.stringify(path)}`)
}

async function read(path: string, files: Files): Promise<string> {
  try {
    return await files.read(path)
  } catch (cause) {
    const reason = (cause as Error).message
    throw new FileUnreadableError('certificate-authority', path, reason, { cause })
  }
}

const BEGIN = '-----BEGIN CERTIFICATE-----'

/**
 * Gives PEM back if every certificate in it can be parsed.
 *
 * @throws {CertificateInvalidError}
 */
export function checkAuthority(pem: string, what: string): string {
  const [, ...blocks] = pem.split(BEGIN)
  if (blocks.length === 0) throw new CertificateInvalidError(`${what} holds no certificate in PEM`)
  for (const [index, block] of blocks.entries()) {
    try {
      // The last one of a bundle that was cut short has no end, which the parser tells us.
      new X509Certificate(BEGIN + block)
    } catch (cause) {
      throw new CertificateInvalidError(`certificate ${index + 1} in ${what} cannot be parsed`, {
        cause,
      })
    }
  }
  return pem
}
