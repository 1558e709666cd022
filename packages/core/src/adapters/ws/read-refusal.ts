import type { IncomingMessage } from 'node:http'
import { UpgradeRefusedError } from '../../errors/index.ts'
import { hideSecrets, showControlCharacters } from '../../secret/scrub.ts'
import type { Secret } from '../../secret/secret.ts'

/** What of an answer is read; Kubernetes writes a few hundred bytes. */
const MOST_BYTES = 64 * 1024
/** How long it may take to arrive; a body that never ends must not hold up the error. */
const LONGEST_MS = 2000
/** What of a text is shown that is not from Kubernetes. */
const MOST_SHOWN = 200

/**
 * Makes an error from the answer that came in place of a WebSocket, with the server's own words.
 *
 * @param secrets What the server may have been sent, and must not be in the message.
 */
export async function readRefusal(
  response: IncomingMessage,
  secrets: Iterable<Secret>,
): Promise<UpgradeRefusedError> {
  const { statusCode = 0 } = response
  const text = hideSecrets(await readText(response), secrets)
  const statusMessage = hideSecrets(response.statusMessage ?? '', secrets)
  const reason = messageOf(text) ?? (text.trim().slice(0, MOST_SHOWN) || statusMessage)
  return new UpgradeRefusedError(statusCode, showControlCharacters(reason))
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  const timer = setTimeout(() => response.destroy(), LONGEST_MS)
  try {
    for await (const chunk of response) {
      chunks.push(chunk as Buffer)
      size += (chunk as Buffer).length
      if (size > MOST_BYTES) break
    }
  } catch {
    // The status is what counts.
  } finally {
    clearTimeout(timer)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The message of a `Status`. */
function messageOf(text: string): string | undefined {
  try {
    const { message } = Object(JSON.parse(text))
    return typeof message === 'string' ? message : undefined
  } catch {
    return undefined
  }
}
