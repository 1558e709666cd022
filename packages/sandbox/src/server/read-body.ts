import type { Incoming } from './exchange.ts'
import { StatusError } from './status.ts'

/** The largest body that kube-apiserver reads. */
const BODY_LIMIT_BYTES = 3 * 1024 * 1024

/** Reads a body up to the limit of kube-apiserver; throws a 413 `StatusError` beyond it. */
export async function readBody(request: Incoming): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length
    if (bytes > BODY_LIMIT_BYTES) {
      throw new StatusError(
        'RequestEntityTooLarge',
        `Request entity too large: limit is ${BODY_LIMIT_BYTES}`,
      )
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Reads the body as a JSON object; throws a `StatusError` for a wrong type or wrong JSON. */
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
    // The reason could quote the body, which may hold what a test wants to keep to itself.
    throw new StatusError('BadRequest', 'the object provided is unrecognized: invalid JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new StatusError('BadRequest', 'the object provided is unrecognized: not a JSON object')
  }
  return { ...value }
}
