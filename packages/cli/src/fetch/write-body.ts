import { once } from 'node:events'
import { ServerUnreachableError } from 'kubecred/internal'
import type { Io } from '../command.ts'

/** How much of a refusal is kept to be explained; a Kubernetes Status has a few hundred bytes. */
const MOST_KEPT_BYTES = 64 * 1024

/**
 * Writes an answer to standard output as it arrives, as fast as the reader takes it.
 *
 * @returns The beginning of it, for explaining a refusal.
 */
export async function writeBody(
  response: Response,
  { stdout }: Io,
  { signal, server }: { readonly signal: AbortSignal; readonly server: string },
): Promise<string> {
  const kept: Uint8Array[] = []
  let size = 0
  for await (const chunk of readBody(response, signal, server)) {
    if (size < MOST_KEPT_BYTES) kept.push(chunk)
    size += chunk.length
    if (!stdout.write(chunk)) await drained(stdout, signal)
  }
  return Buffer.concat(kept).toString()
}

/** Reads the body to its end; what goes wrong on the way is the connection's fault, or the signal's will. */
export async function* readBody(
  { body }: Response,
  signal: AbortSignal,
  server: string,
): AsyncGenerator<Uint8Array> {
  if (body === null) return
  try {
    yield* body
  } catch (cause) {
    if (signal.aborted) throw signal.reason
    throw new ServerUnreachableError(server, 'the connection broke in the middle of the answer', {
      cause,
    })
  }
}

async function drained(stdout: Io['stdout'], signal: AbortSignal): Promise<void> {
  try {
    await once(stdout, 'drain', { signal })
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  }
}
