import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { HomeScene } from '../run/home-scene.ts'
import { PROGRAM, Running } from '../spawn-program.ts'
import { Served } from './proxy-process.ts'

const scene = new HomeScene()

/** Enough for the proxy to start, and for a few connections. */
const LIMIT = 60

describe.skipIf(process.platform === 'win32')('a proxy without free file descriptors', () => {
  it('closes new connections, answers on open ones, and recovers without a restart', async () => {
    const line = [PROGRAM, 'proxy', '-o', 'json', '--kubeconfig', scene.kubeconfig, '--port', '0']
    const limited = ['-c', `ulimit -n ${LIMIT}; exec "$0" "$@"`, process.execPath, ...line]
    const proxy = await Served.of(new Running('sh', limited, scene.home.env()))
    const sockets: Socket[] = []
    const open = (): Socket => {
      const socket = connect(proxy.said.port, '127.0.0.1').on('error', () => {})
      sockets.push(socket)
      return socket
    }
    const askOver = async (socket: Socket) => {
      const more = { agent: undefined, createConnection: () => socket }
      const answer = await proxy.open('/version', more)
      return { status: answer.statusCode, text: await text(answer) }
    }
    try {
      const watch = await proxy.open('/api/v1/namespaces?watch=1')
      expect(String(await once(watch, 'data'))).toContain('"ADDED"')
      const clients = Array.from({ length: 4 }, open)
      await Promise.all(clients.map((socket) => once(socket, 'connect')))
      // These send nothing. The proxy closes the first one that it has no descriptor for.
      await Promise.race(Array.from({ length: LIMIT }, () => once(open().resume(), 'close')))

      await expect(proxy.status('/version')).rejects.toMatchObject({ code: 'ECONNRESET' })
      // Some of them may use connections to the server that are open.
      const answers = await Promise.all(clients.map(askOver))
      const failed = answers.filter(({ status }) => status !== 200)
      expect(failed.length).toBeGreaterThan(0)
      for (const { status, text } of failed) {
        expect({ status, text }).toMatchObject({ status: 503 })
        expect(text).toContain('ERR_SYSTEM_EXHAUSTED')
      }

      for (const socket of sockets) socket.destroy()
      expect(await proxy.status('/version')).toBe(200)
      expect(watch.destroyed).toBe(false)
      watch.on('error', () => {}).destroy()
    } finally {
      for (const socket of sockets) socket.destroy()
      proxy.running.child.kill()
    }
    expect(await proxy.running.end()).toBe(0)
    // The end of the watch may arrive after the signal.
    expect(proxy.running.err).toMatch(/^(?:Waiting up to 10 s for one open request\..*\n)?$/)
    expect(scene.home.leftovers()).toEqual([])
  })
})
