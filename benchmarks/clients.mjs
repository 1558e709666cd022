// The clients that several benchmarks compare. Each is a function that sends one request, reads the body as JSON and
// returns the status.
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { fetch as undiciFetch } from 'undici'

const gunzipped = promisify(gunzip)

/** `cluster.fetch`. With `signal` each request can be aborted. */
export function fetchWith(cluster, path, { signal = false } = {}) {
  return async () => {
    const init = signal ? { signal: new AbortController().signal } : undefined
    const response = await cluster.fetch(path, init)
    await response.json()
    return response.status
  }
}

/** `undici.request` over a pool. It leaves it to its caller to decompress. */
export function requestWith(pool, path, headers, { signal = false } = {}) {
  return async () => {
    const options = { path, method: 'GET', headers }
    if (signal) options.signal = new AbortController().signal
    const { statusCode, body, headers: received } = await pool.request(options)
    if (received['content-encoding'] === 'gzip') {
      const bytes = await gunzipped(Buffer.from(await body.arrayBuffer()))
      JSON.parse(bytes.toString())
    } else await body.json()
    return statusCode
  }
}

/** `undici.fetch`. */
export function undiciFetchWith(url, dispatcher, headers) {
  return async () => {
    const response = await undiciFetch(url, { headers, dispatcher })
    await response.json()
    return response.status
  }
}
