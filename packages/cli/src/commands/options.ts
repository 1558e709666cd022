import type { Run } from '../command.ts'
import { EXIT } from '../exit-status.ts'
import { optionsHelp } from '../render/help-text.ts'

/** `options`: lists the flags that every command accepts. */
export const options: Run = async ({ io }) => {
  io.stdout.write(optionsHelp(io.columns))
  return EXIT.done
}
