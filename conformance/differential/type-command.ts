import { spawn } from 'node:child_process'
import type { Command } from './command.ts'
import type { Scene } from './scene.ts'

/** A compared program. */
export interface Program {
  readonly name: 'kubectl' | 'kubecred'
  /** The command and its first arguments. */
  readonly start: readonly string[]
}

/** The exit status and output of a program. */
export interface Ended {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

const LIMIT_MS = 30_000
const PATH = '/api/v1/namespaces'

/** Runs a command with one of the programs until it exits. */
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

/** Runs in a pseudo-terminal of script(1) from util-linux, which passes the exit status on. */
function inTerminal(typed: readonly string[]): readonly string[] {
  const quoted = typed.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
  return ['script', '-qec', quoted, '/dev/null']
}
