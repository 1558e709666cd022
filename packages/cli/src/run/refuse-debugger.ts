import process from 'node:process'

/** Ignores SIGUSR1: by default Node opens a debugger, which can read all of the memory. */
export function refuseDebugger(): void {
  process.off('SIGUSR1', ignore)
  process.on('SIGUSR1', ignore)
}

function ignore(): void {}
