import process from 'node:process'
import type { Call, Io, Run } from '../command.ts'
import { readDemoOptions } from '../demo/demo-options.ts'
import { removeLeftovers } from '../demo/leftovers.ts'
import { perform } from '../demo/perform.ts'
import { Stage } from '../demo/stage.ts'
import { EXIT } from '../exit-status.ts'
import { interruptedBy } from '../interruption.ts'
import { choosePalette } from '../render/colour.ts'
import { refuseAsPlugin } from '../run/refuse-as-plugin.ts'

/** `demo`: a cluster, three identities, requests and revocations, told as they happen. */
export const demo: Run = async (call) => {
  const { io, signal } = call
  refuseAsPlugin(io, 'demo')
  const wishes = readDemoOptions(call)
  removeLeftovers()
  const wish = takeSignals(io)
  try {
    const ending = AbortSignal.any([signal, wish.signal])
    await perform({ io, wishes, stage: makeStage(call), signal: ending })
  } finally {
    wish.stop()
  }
  signal.throwIfAborted()
  return EXIT.done
}

/** A signal is how a demo is meant to end; whoever sends a second one cannot wait. */
function takeSignals(io: Io): { readonly signal: AbortSignal; readonly stop: () => void } {
  const ending = new AbortController()
  const stop = io.takeSignals((signal) => {
    if (ending.signal.aborted) process.exit(interruptedBy(signal).exitStatus)
    ending.abort()
  })
  return { signal: ending.signal, stop }
}

function makeStage({ io }: Call): Stage {
  const { stdout, env } = io
  const canChange = io.isTerminal.stdout && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  return new Stage(stdout, {
    palette: choosePalette(io.isTerminal.stdout, env),
    isLive: canChange,
    // A terminal knows its width at any time; what we were told is that of the start.
    columns: () => ('columns' in stdout ? Number(stdout.columns) : io.columns),
  })
}
