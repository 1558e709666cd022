import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { MAX_RECORDED_BYTES, RecordedBody } from '../../src/request/outgoing-request.ts'

/** Chunks that arrive one by one, so that reading can stop in between. */
const inChunks = (count: number, size: number): Readable =>
  Readable.from(Array.from({ length: count }, (_, index) => Buffer.alloc(size, `${index % 10}`)))

it('a recorded body can be sent again', async () => {
  const body = new RecordedBody(Readable.from(['one ', 'two']))
  const first = body.open() as Readable
  expect(await new Response(Readable.toWeb(first) as ReadableStream).text()).toBe('one two')
  expect(body.isWhole).toBe(true)
  expect(String(body.open())).toBe('one two')
})

it('a recorded body is read completely when the server refuses the request early', async () => {
  const source = inChunks(20, 10_000)
  const body = new RecordedBody(source)
  const first = body.open() as Readable
  await once(first, 'readable')
  first.destroy()
  await once(source, 'close')
  expect(body.isWhole).toBe(true)
  expect((body.open() as Uint8Array).length).toBe(200_000)
})

it('a recorded body is discarded when it is too large to keep', async () => {
  const source = inChunks(20, MAX_RECORDED_BYTES / 10)
  const body = new RecordedBody(source)
  const first = body.open() as Readable
  await once(first, 'readable')
  first.destroy()
  await once(source, 'close')
  expect(body.isWhole).toBe(false)
  expect(source.readableEnded).toBe(false)
})

it('a recorded body is discarded when it does not end in time', async () => {
  const source = new PassThrough()
  source.write('begun')
  const body = new RecordedBody(source)
  const first = body.open() as Readable
  await once(first, 'readable')
  first.destroy()
  await once(source, 'close')
  expect(body.isWhole).toBe(false)
})
