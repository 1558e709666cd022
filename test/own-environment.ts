import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Makes the tests independent of the machine: they use a new temporary folder, which is removed at the end, and trust no
 * certificates of the machine (reading them also doubles the start-up time of Node, and tests start thousands of plugins).
 */
export function setup(): () => void {
  // A short name, because the path of a unix socket has at most 107 bytes.
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'kc-'))
  // With the mode of the system's folder, because some tests act as another user.
  chmodSync(folder, 0o1777)
  process.env['TMPDIR'] = folder
  delete process.env['NODE_EXTRA_CA_CERTS']
  return () => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}
