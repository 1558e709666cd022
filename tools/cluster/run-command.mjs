import { spawn } from 'node:child_process'

/** Runs a command. @throws {Error} The command failed; the message has the end of its output. */
export function run(command, args) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const hear = (text) => {
    output = (output + text).slice(-4000)
  }
  child.stdout.setEncoding('utf8').on('data', hear)
  child.stderr.setEncoding('utf8').on('data', hear)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => {
      if (status === 0) resolve()
      else reject(new Error(`${command} ${args.join(' ')} ended with ${status}:\n${output}`))
    })
  })
}
