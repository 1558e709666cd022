import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import process from 'node:process'

/** Where a command is, or what is wrong with it; the status is the one that shells and `env` give. */
export type FoundCommand =
  | { readonly path: string }
  | { readonly fault: string; readonly exitStatus: 126 | 127 }

/**
 * Looks a command up as a shell does, before anybody is asked for a PIN.
 *
 * @param path The variable PATH of the environment it will run in.
 */
export function findCommand(command: string, path = ''): FoundCommand {
  if (process.platform === 'win32') return { path: command }
  const shown = JSON.stringify(command)
  if (command === '') return { fault: 'the name of the command is empty', exitStatus: 127 }
  if (command.includes('/')) return judge(command, shown)
  let found: FoundCommand = { fault: `there is no command ${shown} in PATH`, exitStatus: 127 }
  for (const folder of path.split(delimiter)) {
    // An empty part means the current folder.
    const judged = judge(join(folder || '.', command), shown)
    if ('path' in judged) return { path: judged.path.includes('/') ? judged.path : `./${command}` }
    if (judged.exitStatus === 126) found = judged
  }
  return found
}

function judge(path: string, shown: string): FoundCommand {
  const facts = look(path)
  if (facts === undefined) {
    return { fault: `there is no command ${shown}: no such file`, exitStatus: 127 }
  }
  if (facts.isDirectory()) return { fault: `${shown} is a folder`, exitStatus: 126 }
  try {
    accessSync(path, constants.X_OK)
    return { path }
  } catch {
    return { fault: `${shown} may not be run: ${path} is not executable`, exitStatus: 126 }
  }
}

function look(path: string): ReturnType<typeof statSync> {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    // A part of the path is a file, or may not be looked into.
    return undefined
  }
}
