import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'

/**
 * Lets go of standard input, which the command has now.
 *
 * Two who read from one terminal each get half of what is typed: a PIN could end in the command's hands. From now on
 * plugins find no terminal, and those that must ask fail with that reason.
 */
export function giveUpStdin(): void {
  closeSync(0)
  // The lowest free number is taken: this becomes standard input, so that no other file does.
  const descriptor = openSync(devNull, 'r')
  if (descriptor !== 0) closeSync(descriptor)
}
