import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import { type Environment, findExecutable, searchPath } from 'kubecred/internal'

/** The path of a command, or why it cannot be run, with the exit status that shells and `env` use. */
export type FoundCommand =
  | { readonly path: string }
  | { readonly fault: string; readonly exitStatus: 126 | 127 }

/**
 * Looks up a command as a shell does. Called before the login, so that a mistake needs no PIN.
 *
 * On Windows the current folder is not searched, unlike in cmd.exe: its owner could choose the program.
 *
 * @param env The environment in which it will run.
 */
export async function findCommand(command: string, env: Environment): Promise<FoundCommand> {
  if (command === '') return { fault: 'the command is empty', exitStatus: 127 }
  if (process.platform !== 'win32') return findInPath(command, env['PATH'])
  const found = await findExecutable(command, searchPath(env))
  if (found.is === 'found') return found
  const shown = JSON.stringify(command)
  return found.is === 'missing'
    ? { fault: `command ${shown} not found in PATH`, exitStatus: 127 }
    : { fault: `${shown} cannot be run: ${found.reason}`, exitStatus: 126 }
}

function findInPath(command: string, path = ''): FoundCommand {
  const shown = JSON.stringify(command)
  if (command.includes('/')) return judge(command, shown)
  let found: FoundCommand = { fault: `command ${shown} not found in PATH`, exitStatus: 127 }
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
    return { fault: `command ${shown} not found: no such file`, exitStatus: 127 }
  }
  if (facts.isDirectory()) return { fault: `${shown} is a folder`, exitStatus: 126 }
  try {
    accessSync(path, constants.X_OK)
    return { path }
  } catch {
    return { fault: `${shown} cannot be run: ${path} is not executable`, exitStatus: 126 }
  }
}

function look(path: string): ReturnType<typeof statSync> {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    // A part of the path is a file, or is not accessible.
    return undefined
  }
}
