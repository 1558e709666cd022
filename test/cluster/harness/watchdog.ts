import { type ChildProcess, spawn } from 'node:child_process'

/**
 * Reads lines `+ PID` and `- PID` until the pipe closes, then kills the remaining processes and removes the folder.
 * `$1` is the folder; each PID is that of a process group.
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
 * Kills the programs of a cluster and removes its folder when this process ends, for whatever reason.
 *
 * A killed process cannot clean up, and Node has no parent-death signal. So a shell reads from a pipe that closes when
 * this process ends, and then cleans up.
 */
export class Watchdog {
  readonly #shell: ChildProcess

  constructor(folder: string) {
    // In its own session, so that an interrupt from the terminal does not reach it.
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

  /** Unregisters a process that has ended: its pid may be reused. */
  release(pid: number): void {
    this.#shell.stdin?.write(`- ${pid}\n`)
  }

  /** Removes the folder, and kills the processes that are still registered. */
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
