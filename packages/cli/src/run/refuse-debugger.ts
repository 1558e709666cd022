import process from 'node:process'

/** Takes SIGUSR1: Node would open a debugger for whoever sends it, and a debugger shows all of the memory. */
export function refuseDebugger(): void {
  process.off('SIGUSR1', ignore)
  process.on('SIGUSR1', ignore)
}

function ignore(): void {}
