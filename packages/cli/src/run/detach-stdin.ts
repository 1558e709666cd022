import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'

/**
 * Replaces standard input by the null device, because the command reads it now.
 *
 * Two processes that read from one terminal each get part of the input: the command could receive a PIN. From now on
 * plugins have no terminal, and those that must prompt fail with that reason.
 */
export function detachStdin(): void {
  closeSync(0)
  // open() returns the lowest free descriptor, so this becomes standard input and no other file does.
  const descriptor = openSync(devNull, 'r')
  if (descriptor !== 0) closeSync(descriptor)
}
