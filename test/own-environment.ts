import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Makes a run of the tests independent of the machine: it has a temporary folder of its own, removed at the end with
 * everything that tests left in it, and trusts no certificates of the machine (reading them also doubles the time that
 * Node needs to start, and tests start thousands of plugins).
 */
export function setup(): () => void {
  // The name is short: the path of a unix socket has at most 107 bytes.
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'kc-'))
  // As open as the folder it takes the place of: some tests act as another user.
  chmodSync(folder, 0o1777)
  process.env['TMPDIR'] = folder
  delete process.env['NODE_EXTRA_CA_CERTS']
  return () => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}
