import type { OpenedWebSocket } from 'kubecred/ws'
import type { Upgraded } from '../../transports/driver.ts'

export const EXEC_PROTOCOLS = ['v5.channel.k8s.io']

/** The path of a command in a pod of the sandbox that echoes its standard input. */
export function execPath(namespace: string, pod: string): string {
  return `/api/v1/namespaces/${namespace}/pods/${pod}/exec?command=cat&stdin=true&stdout=true`
}

/** An open WebSocket to `exec`, as the behaviour table uses it. */
export function asUpgraded(socket: OpenedWebSocket): Upgraded {
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  return {
    async echo(text) {
      const gone = closed.then(() => Promise.reject(new Error('the WebSocket has closed')))
      return Promise.race([echoed(socket, text), gone])
    },
    async close() {
      socket.close()
      await closed
    },
  }
}

/** Writes to standard input, and reads as many bytes from standard output. */
export function echoed(socket: OpenedWebSocket, text: string): Promise<string> {
  return new Promise((resolve) => {
    let output = ''
    socket.on('message', (message) => {
      if (message[0] === 1) output += message.subarray(1).toString('latin1')
      if (output.length === text.length) resolve(output)
    })
    socket.send(Buffer.concat([Buffer.of(0), Buffer.from(text, 'latin1')]))
  })
}
