import { VERSION } from 'kubecred'
import type { Run } from '../command.ts'
import { EXIT } from '../exit-status.ts'
import { wantsJson } from '../flags/wants-json.ts'

/** `version`: prints the version of the program and of Node. */
export const version: Run = async ({ flags, io }) => {
  io.stdout.write(
    wantsJson(flags)
      ? `${JSON.stringify({ version: VERSION, node: io.nodeVersion })}\n`
      : versionLine(io.nodeVersion),
  )
  return EXIT.done
}

/** What `version` prints for people. */
export function versionLine(nodeVersion: string): string {
  return `kubecred ${VERSION} (node ${nodeVersion})\n`
}
