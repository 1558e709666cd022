import { X509Certificate } from 'node:crypto'
import { CertificateInvalidError, FileUnreadableError, isCredentialError } from '../errors/index.ts'
import type { ClusterTarget } from '../kubeconfig/connection.ts'
import type { Files } from '../ports/files.ts'
import type { AuthorityReload } from '../ports/observer.ts'

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

export interface AuthorityFollower {
  /** Called with the new content, already checked. */
  readonly onChange: (caPem: string) => void
  /** Called with a sentence when the file cannot be used; the last good content stays in use. */
  readonly onProblem: (message: string) => void
  /** Called each time the file was read again. */
  readonly onReload: (reload: AuthorityReload) => void
}

/**
 * Follows the CA file of a cluster, so that a new CA is trusted without a restart.
 *
 * Only new connections are checked against the new content: what is open was accepted under the old one
 * and goes on. Returns how to stop.
 */
export function watchAuthority(
  { certificateAuthority }: ClusterTarget,
  first: string | undefined,
  files: Files,
  { onChange, onProblem, onReload }: AuthorityFollower,
): () => void {
  if (certificateAuthority?.from !== 'file') return () => {}
  let last = first
  let text = ''
  let isStopped = false
  const look = async (cause: 'start' | 'change'): Promise<void> => {
    try {
      text = await readAuthorityFile(certificateAuthority, files)
      if (isStopped) return
      if (text === last) {
        if (cause === 'change') onReload({ result: 'success', reason: 'unchanged' })
        return
      }
      last = checkAuthorityFile(certificateAuthority, text)
      onReload({ result: 'success', reason: 'updated' })
      onChange(last)
    } catch (error) {
      if (isStopped) return
      onReload({ result: 'failure', reason: reasonOf(error, text) })
      const reason = isCredentialError(error) ? error.message : 'it cannot be read'
      onProblem(`${reason}; its last good content is used`)
    }
  }
  const stop = files.watch(certificateAuthority.path, () => void look('change'))
  // Once more: the file may have changed after `first` was read and before it was watched.
  void look('start')
  return () => {
    isStopped = true
    stop()
  }
}

function reasonOf(
  error: unknown,
  text: string,
): Extract<AuthorityReload, { result: 'failure' }>['reason'] {
  if (error instanceof FileUnreadableError) return 'read_error'
  return text === '' ? 'empty' : 'ca_parse_error'
}
