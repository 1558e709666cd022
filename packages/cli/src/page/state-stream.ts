import type { ServerResponse } from 'node:http'
import type { LiveState } from './live-state.ts'
import { writeHead } from './page-response.ts'

/** The minimum interval between snapshots: shorter if a credential changed, longer if only the traffic did. */
const PAUSE_MS = { credential: 250, traffic: 1000 }
/** Lets the page detect a lost connection. */
const HEARTBEAT_MS = 5000
/** A client that reads nothing for this long is disconnected. */
const STUCK_MS = 30_000

/**
 * Streams snapshots to one client as NDJSON until it disconnects.
 *
 * At most one snapshot is queued. A slow client misses snapshots, but no timeline events.
 */
export function streamState(response: ServerResponse, state: LiveState): void {
  let lastNumber = 0
  let sentAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let dueAt = Number.POSITIVE_INFINITY
  let stuck: NodeJS.Timeout | undefined

  writeHead(response, 200, { 'Content-Type': 'application/x-ndjson' })
  const stopWatching = state.watch((change) => plan(PAUSE_MS[change]))
  response.once('close', () => {
    stopWatching()
    clearTimeout(timer)
    clearTimeout(stuck)
  })
  response.on('drain', () => {
    clearTimeout(stuck)
    stuck = undefined
    plan(PAUSE_MS.credential)
  })
  write()

  /** Schedules the next snapshot this long after the last one, unless one is already scheduled earlier. */
  function plan(pauseMs: number): void {
    const at = Math.max(performance.now(), sentAt + pauseMs)
    if (stuck !== undefined || at >= dueAt) return
    clearTimeout(timer)
    dueAt = at
    timer = setTimeout(write, at - performance.now())
  }

  function write(): void {
    dueAt = Number.POSITIVE_INFINITY
    if (response.destroyed || response.writableEnded) return
    const snapshot = state.snapshot(lastNumber)
    lastNumber = snapshot.timeline.at(-1)?.number ?? lastNumber
    sentAt = performance.now()
    if (response.write(`${JSON.stringify(snapshot)}\n`)) plan(HEARTBEAT_MS)
    else stuck = setTimeout(() => response.destroy(), STUCK_MS)
  }
}
