import { once } from 'node:events'
import { type PlainResponse, ServerUnreachableError } from 'kubecred/internal'
import type { Io } from '../command.ts'

/** How much of a body is kept to explain an error; a Kubernetes Status has a few hundred bytes. */
const MAX_KEPT_BYTES = 64 * 1024

/**
 * Writes a response body to standard output as it arrives, with back-pressure.
 *
 * @returns The beginning of the body, to explain an error.
 */
export async function writeBody(
  response: PlainResponse,
  { stdout }: Io,
  { signal, server }: { readonly signal: AbortSignal; readonly server: string },
): Promise<string> {
  const kept: Uint8Array[] = []
  let size = 0
  for await (const chunk of readBody(response, signal, server)) {
    if (size < MAX_KEPT_BYTES) kept.push(chunk)
    size += chunk.length
    if (!stdout.write(chunk)) await drained(stdout, signal)
  }
  return Buffer.concat(kept).toString()
}

/**
 * Reads a response body as text; throws as `readBody` does.
 *
 * @param maxBytes The rest of a longer body is not read. By default there is no limit.
 */
export async function readText(
  response: PlainResponse,
  signal: AbortSignal,
  server: string,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of readBody(response, signal, server)) {
    chunks.push(chunk)
    size += chunk.length
    if (size > maxBytes) break
  }
  return Buffer.concat(chunks).toString()
}

/**
 * Reads a response body.
 *
 * @throws {ServerUnreachableError} `ERR_SERVER_UNREACHABLE` if the connection breaks.
 * @throws The reason of the signal, if it is aborted.
 */
export async function* readBody(
  { body }: PlainResponse,
  signal: AbortSignal,
  server: string,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (cause) {
    if (signal.aborted) throw signal.reason
    throw new ServerUnreachableError(server, 'the connection broke during the response', {
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
