import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readSecret, readSecrets } from '../../src/proxy/read-secret.ts'
import { claimSocketPath } from '../../src/proxy/unix-socket.ts'

const ONE = 'a-secret-of-20-chars'
const TWO = 'B._~another-one-0123456789'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kc-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function write(text: string, mode = 0o600): string {
  const path = join(folder, 'secret')
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

describe('the file of a secret', () => {
  const secrets = (text: string) => readSecrets(write(text), 'secret-file')

  it('has one secret, or two on two lines', () => {
    expect(secrets(ONE)).toEqual([ONE])
    expect(secrets(`\n ${ONE}\n`)).toEqual([ONE])
    expect(secrets(`${ONE} \r\n\n ${TWO}\n`)).toEqual([ONE, TWO])
    expect(readSecret(write(`${TWO}\n`), 'page-secret-file')).toBe(TWO)
    expect(secrets('x'.repeat(200))).toEqual(['x'.repeat(200)])
  })

  it.each([
    ['empty', ''],
    ['short', 'x'.repeat(19)],
    ['long', 'x'.repeat(201)],
    ['with a space', `${ONE} ${TWO}`],
    ['with a letter that a URL cannot have', `${ONE}%`],
    ['with a short second line', `${ONE}\nshort`],
  ])('is rejected: %s', (_, text) => {
    expect(() => secrets(text)).toThrow(
      /of --secret-file cannot be used: a secret must be 20 to 200/,
    )
    expect(() => readSecret(write(text), 'page-secret-file')).toThrow('of --page-secret-file')
  })

  it('is rejected if it has more than two lines, or is too large', () => {
    expect(() => secrets(`${ONE}\n${TWO}\n${ONE}`)).toThrow('it has more than two lines')
    expect(() => secrets(`${ONE}${' '.repeat(1005)}`)).toThrow('it is too large')
    expect(secrets(`${ONE}${' '.repeat(1004)}`)).toEqual([ONE])
  })

  it('is rejected without its content in the message', () => {
    let message = ''
    try {
      secrets(`${ONE}%`)
    } catch (error) {
      message = String(error)
    }
    expect(message).toContain('a secret must be')
    expect(message).not.toContain(ONE)
  })

  it('is rejected if there is none, or it is a folder', () => {
    const none = join(folder, 'none')
    expect(() => readSecrets(none, 'secret-file')).toThrow('there is no such file')
    expect(() => readSecrets(folder, 'secret-file')).toThrow('it is not a file')
  })

  it.skipIf(process.platform === 'win32')('is rejected at once if it is a named pipe', () => {
    const path = join(folder, 'pipe')
    execFileSync('mkfifo', [path])
    expect(() => readSecret(path, 'secret-file')).toThrow('it is not a file')
  })

  it.skipIf(process.platform === 'win32').each([0o644, 0o640, 0o620, 0o602])(
    'is rejected with the mode %o, which others can use',
    (mode) => {
      expect(() => readSecrets(write(ONE, mode), 'secret-file')).toThrow(
        'make it private with chmod 600',
      )
    },
  )
})

describe.skipIf(process.platform === 'win32')('the path of a socket', () => {
  const listen = (path: string): Promise<Server> =>
    new Promise((resolve) => {
      const server = createServer()
      server.listen(path, () => resolve(server))
    })

  it('may be new', async () => {
    expect(await claimSocketPath(join(folder, 'a.sock'))).toBe(join(folder, 'a.sock'))
  })

  it('is rejected if it is long, at 101 bytes', async () => {
    const fill = (length: number) => join(folder, 'é'.repeat(2) + 'x'.repeat(length))
    const rest = 100 - Buffer.byteLength(fill(0))
    expect(await claimSocketPath(fill(rest))).toBe(fill(rest))
    await expect(claimSocketPath(fill(rest + 1))).rejects.toThrow('the path has 101 bytes')
  })

  it('is rejected if a program listens on it', async () => {
    const path = join(folder, 'a.sock')
    const server = await listen(path)
    await expect(claimSocketPath(path)).rejects.toThrow('another program is listening on it')
    await new Promise((resolve) => server.close(resolve))
  })

  it('is rejected if something else is there', async () => {
    await expect(claimSocketPath(write(''))).rejects.toThrow('it exists and is not a socket')
  })

  it.each([
    ['does not exist', (path: string) => join(path, 'none'), 'does not exist'],
    ['is a file', () => write(''), 'is not a folder'],
    [
      'is a symbolic link',
      (path: string) => {
        symlinkSync(path, join(path, 'link'))
        return join(path, 'link')
      },
      'is a symbolic link; use its real path',
    ],
  ])('is rejected if its folder %s', async (_, make, message) => {
    await expect(claimSocketPath(join(make(folder), 'a.sock'))).rejects.toThrow(message)
  })

  it.each([0o770, 0o707])('is rejected if others can write to its folder: %o', async (mode) => {
    chmodSync(folder, mode)
    await expect(claimSocketPath(join(folder, 'a.sock'))).rejects.toThrow('others can write to')
  })
})
