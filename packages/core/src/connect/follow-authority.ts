import { FileUnreadableError, isCredentialError } from '../errors/index.ts'
import type { ClusterTarget } from '../kubeconfig/connection.ts'
import { checkAuthorityFile, readAuthorityFile } from '../node/load-authority.ts'
import type { Files } from '../ports/files.ts'
import type { AuthorityReload } from '../ports/observer.ts'

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
export function followAuthority(
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
