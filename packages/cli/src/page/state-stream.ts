import type { ServerResponse } from 'node:http'
import type { LiveState } from './live-state.ts'
import { writeHead } from './page-response.ts'

/** At most four times a second when something happened, once a second when only requests went through. */
const PAUSE_MS = { news: 250, traffic: 1000 }
/** So that the page can tell silence from a lost connection. */
const HEARTBEAT_MS = 5000
/** A reader that takes nothing for this long is gone. */
const STUCK_MS = 30_000

/**
 * Sends snapshots to one reader, a line each, until it leaves.
 *
 * A reader that is slow misses snapshots, but no moment of the timeline: there is never more than one snapshot
 * waiting to be sent.
 */
export function streamState(response: ServerResponse, state: LiveState): void {
  let lastMoment = 0
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
    plan(PAUSE_MS.news)
  })
  write()

  /** Lets the next snapshot come that long after the last one, or earlier if that is planned already. */
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
    const snapshot = state.snapshot(lastMoment)
    lastMoment = snapshot.timeline.at(-1)?.number ?? lastMoment
    sentAt = performance.now()
    if (response.write(`${JSON.stringify(snapshot)}\n`)) plan(HEARTBEAT_MS)
    else stuck = setTimeout(() => response.destroy(), STUCK_MS)
  }
}
