import type { ServerResponse } from 'node:http'

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Headers of every response: no caching, sniffing, framing, embedding or referrer. */
const SECURITY_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
}

/** Writes the head of a response, with the security headers. */
export function writeHead(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string | number>>,
): void {
  response.writeHead(status, { ...SECURITY_HEADERS, ...headers })
}

/** Sends a complete response. */
export function send(
  response: ServerResponse,
  status: number,
  { type, body, ...more }: { type: string; body: string | Buffer; allow?: string },
): void {
  const bytes = Buffer.from(body)
  writeHead(response, status, {
    'Content-Type': type,
    'Content-Length': bytes.length,
    ...(more.allow !== undefined && { Allow: more.allow }),
  })
  response.end(response.req.method === 'HEAD' ? undefined : bytes)
}

/** Sends an error as plain text. */
export function sendError(
  response: ServerResponse,
  status: number,
  message: string,
  more: { allow?: string } = {},
): void {
  send(response, status, { type: 'text/plain; charset=utf-8', body: `${message}\n`, ...more })
}

/** Sends a value as JSON. */
export function sendJson(response: ServerResponse, value: unknown): void {
  send(response, 200, { type: 'application/json', body: `${JSON.stringify(value)}\n` })
}
