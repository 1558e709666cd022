import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { listenSigner, type SignerHandlers } from 'kubecred/signer'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { asLine, certificateRequest, signRequest } from './spawn-signer.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubecred-listen-'))
  path = join(folder, 'socket')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const handlers: SignerHandlers = {
  certificate: () => {
    throw new Error('none, 123456')
  },
  sign: ({ digest }) => digest,
}

interface Client {
  readonly socket: Socket
  send(request: unknown): void
  next(): Promise<Record<string, unknown>>
}

async function open(at = path): Promise<Client> {
  const socket = connect(at)
  const lines = createInterface(socket)[Symbol.asyncIterator]()
  socket.on('error', () => {})
  await once(socket, 'connect')
  return {
    socket,
    send: (request) => void socket.write(typeof request === 'string' ? request : asLine(request)),
    next: async () => JSON.parse((await lines.next()).value as string),
  }
}

describe('a signer on a socket', () => {
  it('answers several requests of several clients', async () => {
    await using server = await listenSigner(handlers, { path })
    const [one, two] = [await open(server.path), await open(server.path)]
    one.send(signRequest())
    two.send(signRequest({ kind: 'Sign' }))
    expect(await one.next()).toMatchObject({ kind: 'SignResponse' })
    expect(await two.next()).toMatchObject({ kind: 'ExternalSigner' })
    one.send(signRequest())
    expect(await one.next()).toMatchObject({ kind: 'SignResponse' })
  })

  it('is closed to other users: the socket is 0600, a new folder 0700', async () => {
    const below = join(folder, 'made', 'socket')
    await using _ = await listenSigner(handlers, { path: below })
    expect(statSync(below).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'made')).mode & 0o777).toBe(0o700)
  })

  it('signs one request at a time', async () => {
    let running = 0
    let max = 0
    const sign: SignerHandlers['sign'] = async ({ digest }) => {
      running += 1
      max = Math.max(max, running)
      await new Promise((resolve) => setTimeout(resolve, 20))
      running -= 1
      return digest
    }
    await using _ = await listenSigner({ ...handlers, sign }, { path })
    const clients = await Promise.all(Array.from({ length: 5 }, () => open()))
    for (const client of clients) client.send(signRequest())
    for (const client of clients) expect((await client.next())['kind']).toBe('SignResponse')
    expect(max).toBe(1)
  })

  it('answers a failure with an error line without the PIN, and continues', async () => {
    await using _ = await listenSigner(handlers, { path })
    const client = await open()
    client.send(certificateRequest({ pin: '123456' }))
    client.send('nonsense\n')
    client.send(signRequest())
    expect(await client.next()).toMatchObject({ kind: 'SignerError', message: 'none, [secret]' })
    const { message } = await client.next()
    expect(message).toContain('is not JSON')
    expect(await client.next()).toMatchObject({ kind: 'SignResponse' })
  })

  it('sends prompts through the client', async () => {
    const sign: SignerHandlers['sign'] = async ({ notify, digest }) => {
      await notify('Touch the device')
      return digest
    }
    await using _ = await listenSigner({ ...handlers, sign }, { path })
    const client = await open()
    client.send(signRequest())
    expect(await client.next()).toMatchObject({ kind: 'UserPrompt', prompt: 'Touch the device' })
    expect(await client.next()).toMatchObject({ kind: 'SignResponse' })
  })

  it('aborts the request of a client that disconnects, and never starts its queued ones', async () => {
    const signals: AbortSignal[] = []
    const sign: SignerHandlers['sign'] = async ({ signal, digest, configuration }) => {
      signals.push(signal)
      if (configuration['name'] === 'patient') return digest
      await once(signal, 'abort')
      throw signal.reason
    }
    await using _ = await listenSigner({ ...handlers, sign }, { path })
    const [leaver, stayer] = [await open(), await open()]
    leaver.send(signRequest())
    leaver.send(signRequest())
    await vi.waitUntil(() => signals.length === 1)
    stayer.send(signRequest({ configuration: { name: 'patient' } }))
    leaver.socket.destroy()
    expect(await stayer.next()).toMatchObject({ kind: 'SignResponse' })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
  })

  it('never starts queued requests of a client that has disconnected', async () => {
    let finish = (): void => {}
    const begun: (string | undefined)[] = []
    const sign: SignerHandlers['sign'] = async ({ digest, configuration }) => {
      begun.push(configuration['name'])
      if (configuration['name'] !== 'slow') return digest
      await new Promise<void>((resolve) => {
        finish = resolve
      })
      return digest
    }
    await using _ = await listenSigner({ ...handlers, sign }, { path })
    const [slow, leaver, last] = [await open(), await open(), await open()]
    slow.send(signRequest({ configuration: { name: 'slow' } }))
    await vi.waitUntil(() => begun.length === 1)
    leaver.send(`${asLine(signRequest({ configuration: { name: 'leaver' } }))}nonsense`)
    await new Promise<void>((resolve) => {
      leaver.socket.end(() => resolve())
    })
    await once(leaver.socket.resume(), 'close')
    last.send(signRequest({ configuration: { name: 'last' } }))
    finish()
    expect(await last.next()).toMatchObject({ kind: 'SignResponse' })
    expect(begun).toEqual(['slow', 'last'])
  })

  it('disconnects a client whose line is too long, and serves the next', async () => {
    await using _ = await listenSigner(handlers, { path })
    const client = await open()
    client.send('x'.repeat(2 * 1024 * 1024))
    expect(await client.next()).toMatchObject({
      kind: 'SignerError',
      message: 'a line is longer than a mebibyte',
    })
    const next = await open()
    next.send(signRequest())
    expect(await next.next()).toMatchObject({ kind: 'SignResponse' })
  })

  it('disconnects a client that sends too many requests', async () => {
    await using _ = await listenSigner(handlers, { path })
    const client = await open()
    client.send(asLine(signRequest()).repeat(200))
    const closed = once(client.socket, 'close')
    client.socket.resume()
    await closed
  })

  it('removes its socket when it closes', async () => {
    const first = await listenSigner(handlers, { path })
    await first.close()
    expect(existsSync(path)).toBe(false)
  })

  it('disconnects its clients when it closes', async () => {
    const server = await listenSigner(handlers, { path })
    const client = await open()
    const closed = once(client.socket, 'close')
    client.socket.resume()
    await server.close()
    await closed
  })
})

describe('the path of a socket', () => {
  const refused = (at: string): Promise<void> =>
    listenSigner(handlers, { path: at }).then((server) => server.close())

  it('is rejected if the kernel would truncate it', async () => {
    await expect(refused(`/tmp/${'x'.repeat(100)}`)).rejects.toThrow('longer than 100 bytes')
  })

  it('is rejected if it is relative', async () => {
    await expect(refused('socket')).rejects.toThrow('a path that is not absolute')
  })

  it('is rejected if its folder is accessible to other users', async () => {
    chmodSync(folder, 0o750)
    await expect(refused(path)).rejects.toMatchObject({
      code: 'ERR_SIGNER_SOCKET',
      hint: `Restrict the folder to its owner: chmod 700 "${folder}"`,
    })
  })

  it('is rejected if its folder is a symbolic link', async () => {
    mkdirSync(join(folder, 'real'), { mode: 0o700 })
    symlinkSync('real', join(folder, 'link'))
    await expect(refused(join(folder, 'link', 'socket'))).rejects.toThrow(
      'is a symbolic link or not a folder',
    )
  })

  it('is rejected if its folder cannot be created', async () => {
    await expect(refused(join(folder, 'a', 'b', 'socket'))).rejects.toThrow(
      'its folder cannot be created',
    )
  })

  it('is rejected if a file is there, which is kept', async () => {
    writeFileSync(path, 'precious')
    await expect(refused(path)).rejects.toThrow('the path exists and is not a socket')
    expect(existsSync(path)).toBe(true)
  })

  it('is rejected while another signer is listening there', async () => {
    await using _ = await listenSigner(handlers, { path })
    await expect(refused(path)).rejects.toThrow('another signer is listening there')
    expect((await open()).socket.readyState).toBe('open')
  })

  it('is reused after a signer that died', async () => {
    const { spawnSync } = await import('node:child_process')
    const die = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
    spawnSync(process.execPath, ['-e', die])
    expect(existsSync(path)).toBe(true)
    await using _ = await listenSigner(handlers, { path })
    expect((await open()).socket.readyState).toBe('open')
  })

  it('is rejected while another program is listening there', async () => {
    const other = createServer().listen(path)
    await once(other, 'listening')
    await expect(refused(path)).rejects.toThrow('another signer is listening there')
    other.close()
  })
})
