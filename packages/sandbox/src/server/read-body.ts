import type { Incoming } from './exchange.ts'
import { StatusError } from './status.ts'

/** The limit of kube-apiserver. */
const MAX_BODY_BYTES = 3 * 1024 * 1024

/**
 * Reads a body.
 *
 * @throws {StatusError} 413 if it is larger than kube-apiserver's limit.
 */
export async function readBody(request: Incoming): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length
    if (bytes > MAX_BODY_BYTES) {
      throw new StatusError(
        'RequestEntityTooLarge',
        `Request entity too large: limit is ${MAX_BODY_BYTES}`,
      )
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * Reads a body as a JSON object.
 *
 * @throws {StatusError} 415 for another media type, 400 for invalid JSON.
 */
export async function readJson(
  request: Incoming,
  mediaTypes: readonly string[] = ['application/json'],
): Promise<Record<string, unknown>> {
  const mediaType = request.headers['content-type']?.split(';')[0]?.trim()
  if (mediaType !== undefined && !mediaTypes.includes(mediaType)) {
    throw new StatusError(
      'UnsupportedMediaType',
      `the body of the request was in an unknown format - accepted media types include: ${mediaTypes.join(', ')}`,
    )
  }
  return parseObject(await readBody(request))
}

function parseObject(bytes: Buffer): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(bytes.toString())
  } catch {
    // The parser's message could quote the body, which may contain secrets.
    throw new StatusError('BadRequest', 'the object provided is unrecognized: invalid JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new StatusError('BadRequest', 'the object provided is unrecognized: not a JSON object')
  }
  return { ...value }
}
