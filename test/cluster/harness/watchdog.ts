import { type ChildProcess, spawn } from 'node:child_process'

/**
 * Reads lines `+ PID` and `- PID` until their writer is gone, then ends what is left and removes the folder.
 * `$1` is the folder; each number is that of a process group.
 */
const SCRIPT = `
pids=" "
while read -r what pid; do
  case $what in
    +) pids="$pids$pid " ;;
    -) pids="\${pids%% $pid *} \${pids#* $pid }" ;;
  esac
done
for pid in $pids; do kill -s TERM -- "-$pid" 2>/dev/null; done
for pid in $pids; do
  tries=0
  while kill -s 0 -- "-$pid" 2>/dev/null && [ $tries -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
  kill -s KILL -- "-$pid" 2>/dev/null
done
rm -rf -- "$1"
`

/**
 * Ends the programs of a cluster, and removes its folder, when this process ends in whatever way.
 *
 * A process that is killed cannot tidy up, and Node cannot ask the kernel to do it. So a small shell holds the other
 * end of a pipe: when we are gone, so is the pipe, and it does what we would have done.
 */
export class Watchdog {
  readonly #shell: ChildProcess

  constructor(folder: string) {
    // Its own session: an interrupt from the terminal is for us, and we end it.
    this.#shell = spawn('/bin/sh', ['-c', SCRIPT, 'watchdog', folder], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    this.#shell.stdin?.on('error', () => {})
    this.#shell.unref()
  }

  guard(pid: number): void {
    this.#shell.stdin?.write(`+ ${pid}\n`)
  }

  /** The process has ended: its number may soon be somebody else's. */
  release(pid: number): void {
    this.#shell.stdin?.write(`- ${pid}\n`)
  }

  /** Removes the folder, and ends what is still guarded. */
  async close(): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      if (this.#shell.exitCode !== null) resolve()
      else this.#shell.once('exit', () => resolve())
    })
    this.#shell.ref()
    this.#shell.stdin?.end()
    await ended
  }
}
