import { spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { DEFAULT_LIFECYCLE } from '../../src/lifecycle/policy.ts'
import { dialSigner } from '../../src/node/signer-channels.ts'
import { makePair, type TestKeyPair } from '../fixtures/make-certificates.ts'
import { SignerFixture, toSign } from '../fixtures/signer-fixture.ts'

const isUnix = process.platform !== 'win32'
const isRoot = process.getuid?.() === 0
const OTHER_USER = 65_534
const { signal } = new AbortController()

describe.runIf(isUnix)('the socket of a signer', () => {
  let folder = ''
  let path = ''
  let server: Server
  beforeEach(async () => {
    folder = join(mkdtempSync(join(tmpdir(), 'kubecred-dial-')), 'run')
    mkdirSync(folder, { mode: 0o700 })
    path = join(folder, 's')
    server = createServer((socket) => socket.on('error', () => {}).resume())
    await new Promise<void>((resolve) => server.listen(path, resolve))
    chmodSync(path, 0o600)
  })
  afterEach(() => {
    server.close()
    rmSync(join(folder, '..'), { recursive: true })
  })

  const dial = (to = path) => dialSigner(to, { onOutput() {}, onEnd() {} }, signal)
  const refused = (says: RegExp, hint = /./) => ({
    code: 'ERR_SIGNER_SOCKET',
    message: expect.stringMatching(says),
    hint: expect.stringMatching(hint),
  })

  it('is used if it and its folder belong to the current user only', async () => {
    const channel = await dial()
    await channel.end('now')
  })

  it('is not used in a folder that other users can change', async () => {
    for (const mode of [0o770, 0o702, 0o1777]) {
      chmodSync(folder, mode)
      await expect(dial()).rejects.toMatchObject(
        refused(/folder that other users can change/, /chmod/),
      )
    }
  })

  it('is not used below a folder that other users can change, or through a link', async () => {
    const above = join(folder, '..')
    chmodSync(above, 0o777)
    await expect(dial()).rejects.toMatchObject(
      refused(/below a folder that other users can change/),
    )
    // As in /tmp: only the owner of a file can rename it.
    chmodSync(above, 0o1777)
    await (await dial()).end('now')
    const link = `${above}-link`
    symlinkSync(above, link)
    try {
      await expect(dial(join(link, 'run', 's'))).rejects.toMatchObject(refused(/symbolic link/))
    } finally {
      rmSync(link)
    }
  })

  it('is not used if other users can change it', async () => {
    chmodSync(path, 0o622)
    await expect(dial()).rejects.toMatchObject(
      refused(/socket that other users can change/, /chmod/),
    )
  })

  it.runIf(isRoot)('is not used if it or its folder belongs to another user', async () => {
    chownSync(path, OTHER_USER, OTHER_USER)
    await expect(dial()).rejects.toMatchObject(refused(/a socket that belongs to another user/))
    chownSync(path, 0, 0)
    chownSync(folder, OTHER_USER, OTHER_USER)
    await expect(dial()).rejects.toMatchObject(refused(/a folder that belongs to another user/))
  })

  it('is not used through a symbolic link', async () => {
    const link = join(folder, 'link')
    symlinkSync(path, link)
    await expect(dial(link)).rejects.toMatchObject(refused(/not a socket, or is a symbolic link/))
    const linked = join(folder, '..', 'linked')
    symlinkSync(folder, linked)
    await expect(dial(join(linked, 's'))).rejects.toMatchObject(
      refused(/its folder is a symbolic link/),
    )
  })

  it('is not used if its path is longer than the kernel supports', async () => {
    const long = join(folder, 'x'.repeat(100))
    await expect(dial(long)).rejects.toMatchObject(refused(/more than 100 bytes/, /shorter/))
  })

  it('must exist, and a signer must listen on it', async () => {
    await expect(dial(join(folder, 'none'))).rejects.toMatchObject(
      refused(/does not exist/, /Start/),
    )
    await expect(dial(join(folder, 'no', 's'))).rejects.toMatchObject(refused(/does not exist/))
    const left = join(folder, 'left')
    const program = `require('net').createServer().listen(${JSON.stringify(left)}, () => process.kill(process.pid, 'SIGKILL'))`
    await new Promise((resolve) => spawn(process.execPath, ['-e', program]).once('exit', resolve))
    chmodSync(left, 0o600)
    await expect(dial(left)).rejects.toMatchObject(refused(/refuses connections/, /Start/))
  })
})

describe.runIf(isUnix)('a signer that the user started', () => {
  let pair: TestKeyPair
  beforeAll(async () => {
    pair = await makePair()
  })

  async function listen(scene: SignerFixture) {
    const path = join(scene.folder, 's')
    const child = spawn(process.execPath, [scene.program, scene.folder, path], { stdio: 'inherit' })
    await vi.waitFor(() => expect(scene.log()).toHaveLength(1), 10_000)
    chmodSync(path, 0o600)
    return { at: { kind: 'socket', path } as const, child }
  }

  it('receives every request as a line over one connection', async () => {
    await using scene = new SignerFixture(pair)
    const { at, child } = await listen(scene)
    try {
      const key = await scene.key({}, { at })
      for (const text of ['one', 'two']) {
        const signature = await key.sign(toSign(text))
        expect(scene.isValid('ecdsa_secp256r1_sha256', Buffer.from(text), signature)).toBe(true)
      }
      expect(scene.asked().slice(1)).toEqual([
        'CertificateRequest by socket',
        'SignRequest by socket',
        'SignRequest by socket',
      ])
    } finally {
      child.kill()
    }
  })

  it('fails a request after its time limit while it is suspended, and signs when it continues', async () => {
    await using scene = new SignerFixture(pair)
    const { at, child } = await listen(scene)
    try {
      const key = await scene.key(
        {},
        {
          at,
          limits: { timeoutMs: 1000 },
          ports: { policy: { ...DEFAULT_LIFECYCLE, backoffFirstMs: 10, backoffLimitMs: 10 } },
        },
      )
      child.kill('SIGSTOP')
      const failed = { code: 'ERR_SIGNER_FAILED', message: expect.stringContaining('within 1 s') }
      // The open connection, and another one, which the kernel accepts.
      for (const text of ['one', 'two']) {
        await expect(key.sign(toSign(text))).rejects.toMatchObject(failed)
        await sleep(20)
      }
      child.kill('SIGCONT')
      const signature = await key.sign(toSign('three'))
      expect(scene.isValid('ecdsa_secp256r1_sha256', Buffer.from('three'), signature)).toBe(true)
    } finally {
      child.kill('SIGKILL')
    }
  })

  it('may close the connection between requests; an error reports that it has exited', async () => {
    await using scene = new SignerFixture(pair)
    const { at, child } = await listen(scene)
    try {
      const key = await scene.key({ leaves: 'yes' }, { at })
      await key.sign(toSign('one'))
      await key.sign(toSign('two'))
    } finally {
      child.kill()
    }
    await new Promise((resolve) => child.once('exit', resolve))
    const key = await scene.key({}, { at }).catch((error: unknown) => error)
    expect(key).toMatchObject({ code: 'ERR_SIGNER_SOCKET' })
  })
})
