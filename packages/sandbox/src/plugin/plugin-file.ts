import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pluginScript } from './plugin-script.ts'

// Older kernels truncate the first line of a script at 127 bytes.
const MAX_INTERPRETER_LENGTH = 125

/** Writes the executable file of a plugin, and returns the command that starts it. */
export function writePluginFile(folder: string, id: string): { command: string; args: string[] } {
  const interpreter = process.execPath
  // With .cjs the file is CommonJS whatever a package.json above it says.
  const file = join(folder, `plugin-${id}.cjs`)
  writeFileSync(file, pluginScript(interpreter), { mode: 0o700 })
  // Deno runs a file only with these arguments, and the first line of a script can have but one.
  if ('deno' in process.versions) {
    return { command: interpreter, args: ['run', '--allow-all', '--quiet', file] }
  }
  return canUseShebang(interpreter)
    ? { command: file, args: [] }
    : { command: interpreter, args: [file] }
}

function canUseShebang(interpreter: string): boolean {
  const isPlain = !/\s/.test(interpreter) && interpreter.length < MAX_INTERPRETER_LENGTH
  return process.platform !== 'win32' && isPlain
}
