import { expect, it, vi } from 'vitest'
import { Line } from '../../src/request/line.ts'
import { withBufferedBody } from '../../src/request/outgoing-request.ts'
import { splitPath } from '../../src/request/request-target.ts'
import { open, target } from './call-stage.ts'
import { fakeAccess } from './line-to.ts'

const get = () => withBufferedBody({ method: 'GET', headers: {}, signal: undefined }, undefined)

it('a line loads its exchange once for all requests, and again after a failure', async () => {
  const { exchange, sent } = open()
  const loadExchange = vi
    .fn<() => Promise<typeof exchange>>()
    .mockRejectedValueOnce(new Error('no such file'))
    .mockResolvedValue(exchange)
  const line = new Line({
    target,
    keeper: fakeAccess(),
    defaults: {},
    refreshOn: [401],
    limits: { requests: 64, streams: 64 },
    loadExchange,
  })
  const send = () => line.send(splitPath('/version'), get())
  await expect(Promise.all([send(), send()])).rejects.toThrow('no such file')
  const sending = Promise.all([send(), send(), send()])
  await vi.waitFor(() => expect(sent).toHaveLength(3))
  for (const one of sent) one.answer(200)
  await sending
  expect(loadExchange).toHaveBeenCalledTimes(2)
})
