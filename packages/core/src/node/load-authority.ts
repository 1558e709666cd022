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
  const { field } = certificateAuthority
  if (certificateAuthority.from === 'data') {
    const where = name === undefined ? 'the cluster' : `cluster ${JSON.stringify(name)}`
    const what = field ?? `certificate-authority-data of ${where}`
    return checkAuthority(certificateAuthority.data, what)
  }
  return checkAuthorityFile(
    certificateAuthority,
    await readAuthorityFile(certificateAuthority, files),
  )
}

type AuthorityFile = Extract<ClusterTarget['certificateAuthority'], { from: 'file' }>

/** @throws {FileUnreadableError} */
export async function readAuthorityFile(
  { path, field: what = 'certificate-authority' }: AuthorityFile,
  files: Files,
): Promise<string> {
  try {
    return await files.read(path)
  } catch (cause) {
    const reason = (cause as Error).message
    throw new FileUnreadableError(what, path, reason, { cause })
  }
}

/** @throws {CertificateInvalidError} */
export function checkAuthorityFile(
  { path, field: what = 'certificate-authority' }: AuthorityFile,
  pem: string,
): string {
  return checkAuthority(pem, `${what} ${JSON.stringify(path)}`)
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
