import { X509Certificate } from 'node:crypto'
import { CertificateInvalidError, FileUnreadableError, isCredentialError } from '../errors/index.ts'
import type { ClusterTarget } from '../kubeconfig/connection.ts'
import type { Files } from '../ports/files.ts'
import type { AuthorityReload } from '../ports/observer.ts'

/**
 * Reads the certificate authorities of a cluster as PEM; returns undefined for those of the system.
 *
 * Node ignores certificates that it cannot parse, and would then trust none, or those of the system. Here they are an
 * error.
 *
 * @throws {FileUnreadableError} `ERR_FILE_UNREADABLE`
 * @throws {CertificateInvalidError} `ERR_CERTIFICATE_INVALID`
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

/**
 * Reads the file of a certificate authority, without checking its content.
 *
 * @throws {FileUnreadableError} `ERR_FILE_UNREADABLE`
 */
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

/**
 * Returns the content of a CA file if every certificate in it can be parsed.
 *
 * @throws {CertificateInvalidError} `ERR_CERTIFICATE_INVALID`
 */
export function checkAuthorityFile(
  { path, field: what = 'certificate-authority' }: AuthorityFile,
  pem: string,
): string {
  return checkAuthority(pem, `${what} ${JSON.stringify(path)}`)
}

const BEGIN = '-----BEGIN CERTIFICATE-----'

/**
 * Returns the PEM text if every certificate in it can be parsed.
 *
 * @param what What the text is, for error messages.
 * @throws {CertificateInvalidError} `ERR_CERTIFICATE_INVALID`
 */
export function checkAuthority(pem: string, what: string): string {
  const [, ...blocks] = pem.split(BEGIN)
  if (blocks.length === 0) throw new CertificateInvalidError(`${what} contains no PEM certificate`)
  for (const [index, block] of blocks.entries()) {
    try {
      // Also fails for the last certificate of a truncated bundle, which has no END line.
      new X509Certificate(BEGIN + block)
    } catch (cause) {
      throw new CertificateInvalidError(`certificate ${index + 1} in ${what} cannot be parsed`, {
        cause,
      })
    }
  }
  return pem
}

/** Callbacks of {@link watchAuthority}. */
export interface AuthorityWatcher {
  /** Called with the new content, which is valid. */
  readonly onChange: (caPem: string) => void
  /** Called with a message when the file cannot be used; the last good content stays in use. */
  readonly onProblem: (message: string) => void
  /** Called each time the file has been read again. */
  readonly onReload: (reload: AuthorityReload) => void
}

/**
 * Watches the CA file of a cluster, so that a new CA is trusted without a restart. Returns a function that stops it.
 *
 * The new content applies to new connections only; open connections are not affected.
 */
export function watchAuthority(
  { certificateAuthority }: ClusterTarget,
  first: string | undefined,
  files: Files,
  { onChange, onProblem, onReload }: AuthorityWatcher,
): () => void {
  if (certificateAuthority?.from !== 'file') return () => {}
  let last = first
  let text = ''
  let isStopped = false
  const reload = async (cause: 'start' | 'change'): Promise<void> => {
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
  const stop = files.watch(certificateAuthority.path, () => void reload('change'))
  // The file may have changed between the read of `first` and the start of the watch.
  void reload('start')
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
