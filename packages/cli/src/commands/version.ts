import { VERSION } from 'kubecred'
import type { Run } from '../command.ts'
import { EXIT } from '../exit-status.ts'
import { wantsJson } from '../flags/wants-json.ts'

/** `version`: says which program this is. */
export const version: Run = async ({ flags, io }) => {
  io.stdout.write(
    wantsJson(flags)
      ? `${JSON.stringify({ version: VERSION, node: io.nodeVersion })}\n`
      : `kubecred ${VERSION} (node ${io.nodeVersion})\n`,
  )
  return EXIT.done
}
