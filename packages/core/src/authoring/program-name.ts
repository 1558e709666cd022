import { basename } from 'node:path'
import process from 'node:process'

/** How this plugin is called in messages: the name of its file. */
export function programName(): string {
  return basename(process.argv[1] ?? 'plugin')
}
