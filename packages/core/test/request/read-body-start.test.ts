import { describe, expect, it } from 'vitest'
import { readBodyStart } from '../../src/request/read-body-start.ts'

describe('the start of a body', () => {
  it('is the whole body if it is not longer than the limit', async () => {
    expect(String(await readBodyStart(new Response('0123456789'), 10))).toBe('0123456789')
    expect(await readBodyStart(new Response(null), 10)).toHaveLength(0)
  })

  it('is longer than the limit if the body is, and the rest is not read', async () => {
    let chunks = 0
    let isCancelled = false
    const endless = new ReadableStream({
      pull(controller) {
        chunks += 1
        controller.enqueue(new Uint8Array(4))
      },
      cancel() {
        isCancelled = true
      },
    })
    expect(await readBodyStart(new Response(endless), 10)).toHaveLength(12)
    expect(chunks).toBeLessThan(10)
    expect(isCancelled).toBe(true)
  })
})
