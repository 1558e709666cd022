// A TCP relay that delays what it passes on. Sends its port to its parent, and ends with it.
// Arguments: the port of the server on 127.0.0.1, and the time of a round trip in milliseconds.
import { connect, createServer } from 'node:net'

const [port, roundTripMs] = process.argv.slice(2).map(Number)

const relay = createServer({ noDelay: true }, (near) => {
  const far = connect({ port, host: '127.0.0.1', noDelay: true })
  // The kernel accepts a connection at once. Over a real network it takes a round trip, so the first bytes wait for it.
  pass(near, far, roundTripMs)
  pass(far, near, 0)
})
relay.listen(0, '127.0.0.1', () => process.send?.({ port: relay.address().port }))
process.on('disconnect', () => process.exit())

function pass(from, to, firstMs) {
  const openAt = performance.now() + firstMs
  const later = (work) => {
    const wait = Math.max(openAt - performance.now(), 0) + roundTripMs / 2
    setTimeout(work, wait)
  }
  // Timers of different lengths can fire in another order than they were set: what waits is a queue.
  const queue = []
  const send = () => queue.shift()?.()
  const push = (work) => {
    queue.push(work)
    later(send)
  }
  from.on('data', (chunk) => push(() => to.write(chunk)))
  from.on('end', () => push(() => to.end()))
  from.on('error', () => to.destroy())
  from.on('close', () => push(() => to.destroySoon()))
}
