import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pluginScript } from './plugin-script.ts'

// The kernel cuts the first line of a script; older ones do so at 127 bytes.
const SHEBANG_LIMIT = 125

/** Writes a plugin's executable file and says how to start it. */
export function writePluginFile(folder: string, id: string): { command: string; args: string[] } {
  const interpreter = process.execPath
  // The extension keeps the file CommonJS even below a package.json that says otherwise.
  const file = join(folder, `plugin-${id}.cjs`)
  writeFileSync(file, pluginScript(interpreter), { mode: 0o700 })
  return hasShebang(interpreter)
    ? { command: file, args: [] }
    : { command: interpreter, args: [file] }
}

function hasShebang(interpreter: string): boolean {
  const isPlain = !/\s/.test(interpreter) && interpreter.length < SHEBANG_LIMIT
  return process.platform !== 'win32' && isPlain
}
