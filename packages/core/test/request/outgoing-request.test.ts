import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { MOST_RECORDED, RecordedBody } from '../../src/request/outgoing-request.ts'

/** Pieces that come one by one, so that somebody can stop listening in between. */
const inPieces = (count: number, size: number): Readable =>
  Readable.from(Array.from({ length: count }, (_, index) => Buffer.alloc(size, `${index % 10}`)))

it('can be sent again after it was sent once', async () => {
  const body = new RecordedBody(Readable.from(['one ', 'two']))
  const first = body.open() as Readable
  expect(await new Response(Readable.toWeb(first) as ReadableStream).text()).toBe('one two')
  expect(body.isWhole).toBe(true)
  expect(String(body.open())).toBe('one two')
})

it('is read to its end when the server refused it before it had all of it', async () => {
  const source = inPieces(20, 10_000)
  const body = new RecordedBody(source)
  const first = body.open() as Readable
  await once(first, 'readable')
  first.destroy()
  await once(source, 'close')
  expect(body.isWhole).toBe(true)
  expect((body.open() as Uint8Array).length).toBe(200_000)
})

it('is given up when it is too big to be kept', async () => {
  const source = inPieces(20, MOST_RECORDED / 10)
  const body = new RecordedBody(source)
  const first = body.open() as Readable
  await once(first, 'readable')
  first.destroy()
  await once(source, 'close')
  expect(body.isWhole).toBe(false)
  expect(source.readableEnded).toBe(false)
})

it('is given up when it does not come to its end', async () => {
  const source = new PassThrough()
  source.write('begun')
  const body = new RecordedBody(source)
  const first = body.open() as Readable
  await once(first, 'readable')
  first.destroy()
  await once(source, 'close')
  expect(body.isWhole).toBe(false)
})
