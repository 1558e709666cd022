import { spawn } from 'node:child_process'
import type { Command } from './command.ts'
import type { Scene } from './scene.ts'

/** One of the two programs that are compared. */
export interface Program {
  readonly name: 'kubectl' | 'kubecred'
  /** What is typed before the arguments. */
  readonly start: readonly string[]
}

/** How a program ended and what it said. */
export interface Ended {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

const LIMIT_MS = 30_000
const PATH = '/api/v1/namespaces'

/** Types a command for one of the programs and waits for its end. */
export function typeCommand(program: Program, command: Command, scene: Scene): Promise<Ended> {
  const typed = [...program.start, ...argumentsOf(program, command), ...(command.flags ?? [])]
  const [file = '', ...args] = command.hasTerminal ? inTerminal(typed) : typed
  const child = spawn(file, args, {
    cwd: command.folder ?? scene.folder,
    env: environmentOf(command, scene),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => {
      if (status === null) reject(new Error(`${typed.join(' ')} did not end: ${stdout}${stderr}`))
      else resolve({ status, stdout, stderr })
    })
  })
}

export function environmentOf({ env = {} }: Command, scene: Scene): Record<string, string> {
  const all = Object.entries({ ...scene.env, ...env })
  return Object.fromEntries(all.filter((pair): pair is [string, string] => pair[1] !== undefined))
}

function argumentsOf({ name }: Program, { path = PATH, body }: Command): readonly string[] {
  if (body === undefined) return name === 'kubectl' ? ['get', '--raw', path] : ['fetch', path]
  return name === 'kubectl'
    ? ['create', '--raw', path, '-f', body]
    : ['fetch', path, '-d', `@${body}`]
}

/** A terminal of its own, by script(1) of util-linux, which hands on the exit status. */
function inTerminal(typed: readonly string[]): readonly string[] {
  const quoted = typed.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
  return ['script', '-qec', quoted, '/dev/null']
}
