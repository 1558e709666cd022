import { once } from 'node:events'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import type { Opened } from '../driver.ts'

/** `Exec` of any version of client-node. */
interface ExecLike {
  exec(
    namespace: string,
    pod: string,
    container: string,
    command: string[],
    stdout: Writable,
    stderr: Writable | null,
    stdin: Readable,
    tty: boolean,
  ): Promise<{ close(): void; on(event: 'close', listener: () => void): unknown }>
}

/** Opens an echo in a pod, as programs with client-node do. */
export function execUpgrade(client: ExecLike): NonNullable<Opened['upgrade']> {
  return async ({ namespace, pod }) => {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()]
    const socket = await client
      .exec(namespace, pod, 'main', ['cat'], stdout, null, stdin, false)
      .catch(explain)
    return {
      async echo(text) {
        stdin.write(text)
        const [chunk] = (await once(stdout, 'data')) as [Buffer]
        return chunk.toString()
      },
      async close() {
        const closed = new Promise<void>((resolve) => socket.on('close', resolve))
        socket.close()
        await closed
      },
    }
  }
}

/** client-node rejects with the event of the WebSocket, which has the error in it. */
function explain(event: unknown): never {
  throw (event as { error?: unknown }).error ?? event
}
