import process from 'node:process'

type Callback = (error?: Error | null) => void

/**
 * Keeps standard output for the answer: whatever else is written to it goes to standard error.
 *
 * It stays so until the process ends. A chatty library, a forgotten `console.log` or a word from an exit
 * handler in front of or behind the answer would make it unreadable. What writes to descriptor 1 itself,
 * such as a child process that inherits it, cannot be caught here.
 *
 * @returns Writes to the real standard output. Resolves when it is handed over, rejects when nobody reads it.
 */
export function guardStdout(): (text: string) => Promise<void> {
  const { stdout } = process
  const write = stdout.write.bind(stdout)
  stdout.write = process.stderr.write.bind(process.stderr) as typeof stdout.write
  // A pipeline ends its target, which would leave nothing to answer on, and then waits for the event.
  stdout.end = ((...args: unknown[]) => {
    const done = args.find((arg): arg is Callback => typeof arg === 'function')
    const [chunk] = args
    if (chunk !== done && chunk !== undefined && chunk !== null) stdout.write(chunk as string)
    process.nextTick(() => {
      stdout.emit('finish')
      done?.()
    })
    return stdout
  }) as typeof stdout.end
  return (text) =>
    new Promise((resolve, reject) => {
      write(text, (error) => (error ? reject(error) : resolve()))
    })
}
