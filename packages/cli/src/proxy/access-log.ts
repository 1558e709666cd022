import type { Writable } from 'node:stream'
import { scrub } from 'kubecred/internal'
import type { EndedRequest } from 'kubecred/proxy'
import { printableJson, printableLine } from '../render/printable.ts'

/** The formats of the access log. */
export const LOG_FORMATS = ['text', 'json'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

/** Lines that wait for a slow reader. Further ones are dropped and counted, so that memory is limited. */
const MAX_WAITING_BYTES = 1024 * 1024

/**
 * Returns a function that writes one line for every request: never a header, a query or a body.
 *
 * A client may put its token into a path by mistake, so what looks like one is removed. It cannot know the credential
 * of the cluster.
 */
export function createAccessLog(
  format: LogFormat,
  stdout: Pick<Writable, 'write' | 'writableLength'>,
): (note: EndedRequest) => void {
  const describe = format === 'json' ? asJson : asText
  let dropped = 0
  return (note) => {
    if (stdout.writableLength > MAX_WAITING_BYTES) {
      dropped += 1
      return
    }
    const line = describe({ ...note, path: scrub(note.path) }, dropped)
    dropped = 0
    stdout.write(`${line}\n`)
  }
}

function asJson(note: EndedRequest, dropped: number): string {
  const { at, address, caller, method, path, status, totalMs, sentBytes } = note
  return printableJson(
    JSON.stringify({
      time: new Date(at).toISOString(),
      address,
      caller,
      method,
      path,
      status,
      durationMs: round(totalMs),
      bytes: sentBytes,
      ...(note.isUpgrade && { upgrade: true }),
      refused: note.rejectedFor,
      ...(dropped > 0 && { droppedLines: dropped }),
    }),
  )
}

function asText(note: EndedRequest, dropped: number): string {
  const { at, address = '-', caller = '-', method, path, status, totalMs, sentBytes } = note
  const request = JSON.stringify(printableLine(`${method} ${path}`))
  const refused = note.rejectedFor === undefined ? '' : ` refused: ${note.rejectedFor}`
  const more = dropped === 0 ? '' : ` (${dropped} lines before were dropped)`
  const size = `${sentBytes} B ${round(totalMs)} ms`
  const time = new Date(at).toISOString()
  return `${time} ${address} ${printableLine(caller)} ${request} ${status} ${size}${refused}${more}`
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10
}
