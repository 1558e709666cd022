import { isCredentialError } from '../errors/index.ts'
import type { ClusterTarget } from '../kubeconfig/connection.ts'
import { loadAuthority } from '../node/load-authority.ts'
import type { Files } from '../ports/files.ts'

export interface AuthorityFollower {
  /** Called with the new content, already checked. */
  readonly onChange: (caPem: string) => void
  /** Called with a sentence when the file cannot be used; the last good content stays in use. */
  readonly onProblem: (message: string) => void
}

/**
 * Follows the CA file of a cluster, so that a new CA is trusted without a restart.
 *
 * Only new connections are checked against the new content: what is open was accepted under the old one
 * and goes on. Returns how to stop.
 */
export function followAuthority(
  cluster: ClusterTarget,
  first: string | undefined,
  files: Files,
  { onChange, onProblem }: AuthorityFollower,
): () => void {
  const { certificateAuthority } = cluster
  if (certificateAuthority?.from !== 'file') return () => {}
  let last = first
  const look = async (): Promise<void> => {
    try {
      const caPem = await loadAuthority(cluster, files)
      if (caPem === undefined || caPem === last) return
      last = caPem
      onChange(caPem)
    } catch (error) {
      const reason = isCredentialError(error) ? error.message : 'it cannot be read'
      onProblem(`${reason}; its last good content is used`)
    }
  }
  return files.watch(certificateAuthority.path, () => void look())
}
