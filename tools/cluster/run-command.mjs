import { spawn } from 'node:child_process'

/** Runs a command to its end. @throws {Error} When it fails; with the end of what it wrote. */
export function run(command, args) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  const hear = (text) => {
    said = (said + text).slice(-4000)
  }
  child.stdout.setEncoding('utf8').on('data', hear)
  child.stderr.setEncoding('utf8').on('data', hear)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => {
      if (status === 0) resolve()
      else reject(new Error(`${command} ${args.join(' ')} ended with ${status}:\n${said}`))
    })
  })
}
