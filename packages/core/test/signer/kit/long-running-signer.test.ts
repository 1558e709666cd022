import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { RunningProgram } from '../../fixtures/running-program.ts'
import {
  asLine,
  certificateRequest,
  signerWith,
  signRequest,
  startLongRunning,
  VERSION,
  writeProgram,
} from './spawn-signer.ts'

/** Signs with a counter, so that order and loss are visible. */
const counting = signerWith({
  before: 'let count = 0',
  sign: 'count += 1; if (configuration.fail) throw new Error("no, " + configuration.pin); return Buffer.from(String(count))',
})
const signatureOf = ({ signature }: Readonly<Record<string, unknown>>): string =>
  Buffer.from(String(signature), 'base64').toString()

describe('a long-running signer', () => {
  it('answers further requests in order, from one process', async () => {
    const { signer, requests, until } = startLongRunning(counting, signRequest())
    await until(1)
    requests.write(asLine(signRequest()) + asLine(signRequest()) + asLine(signRequest()))
    expect((await until(4)).map(signatureOf)).toEqual(['1', '2', '3', '4'])
    requests.end()
    expect(await signer.ended()).toMatchObject({ status: 0, err: '' })
  })

  it('accepts lines in any pieces, and the last one without a line break', async () => {
    const { signer, requests, until, answers } = startLongRunning(counting, signRequest())
    const text = asLine(signRequest({ configuration: { name: 'Jürgen' } }))
    for (const byte of Buffer.from(text)) requests.write(Buffer.of(byte))
    await until(2)
    requests.end(asLine(signRequest()).trimEnd())
    expect((await signer.ended()).status).toBe(0)
    expect(answers().map(signatureOf)).toEqual(['1', '2', '3'])
  })

  it('answers a failure with an error without the PIN, and continues', async () => {
    const bad = signRequest({ configuration: { fail: 'yes', pin: '123456' } })
    const { signer, requests, until } = startLongRunning(counting, bad)
    requests.write(asLine(signRequest()))
    const failure = { apiVersion: VERSION, kind: 'SignerError', message: 'no, [secret]' }
    expect(await until(2)).toMatchObject([failure, { kind: 'SignResponse' }])
    requests.end()
    expect(await signer.ended()).toMatchObject({ status: 0, err: '' })
  })

  it.each([
    ['not JSON', 'not json\n', 'the request to this signer is not JSON'],
    ['another version', asLine({ apiVersion: 'v1' }), 'apiVersion in the request'],
    [
      'a message that is not base64',
      asLine(signRequest({ message: '?' })),
      'message in the request',
    ],
  ])('answers an invalid line with an error: %s', async (_, line, words) => {
    const { signer, requests, until } = startLongRunning(counting, signRequest())
    requests.write(line)
    requests.write(asLine(signRequest()))
    const [, failure, next] = await until(3)
    expect(failure).toMatchObject({ kind: 'SignerError', message: expect.stringContaining(words) })
    expect(next).toMatchObject({ kind: 'SignResponse' })
    requests.end()
    await signer.ended()
  })

  it('ends if a line is too long', async () => {
    const { signer, requests, until } = startLongRunning(counting, signRequest())
    await until(1)
    requests.write('x'.repeat(2 * 1024 * 1024))
    const { status, err } = await signer.ended()
    expect(status).toBe(1)
    expect(err).toContain('a line is longer than a mebibyte')
  })

  it('answers certificates and signatures in turn', async () => {
    const { requests, until, signer } = startLongRunning(counting, certificateRequest())
    requests.write(asLine(signRequest({ kind: 'Sign' })))
    expect(await until(2)).toMatchObject([
      { kind: 'SignerError', message: 'no certificate here' },
      { kind: 'ExternalSigner' },
    ])
    requests.end()
    await signer.ended()
  })

  it('ends after idleMs without a request', async () => {
    const path = signerWith({ options: '{ idleMs: 100 }' })
    const { signer } = startLongRunning(path, signRequest())
    expect(await signer.ended()).toMatchObject({ status: 0, err: '' })
  })

  it('runs until its client closes the descriptor, by default', async () => {
    // Timers of a minute and more fire at once.
    const before = `const { setTimeout: wait } = globalThis
      globalThis.setTimeout = (work, ms, ...rest) => wait(work, ms >= 60_000 ? 1 : ms, ...rest)`
    const { signer, requests, until } = startLongRunning(signerWith({ before }), signRequest())
    await until(1)
    await new Promise((resolve) => setTimeout(resolve, 100))
    requests.write(asLine(signRequest()))
    await until(2)
    requests.end()
    expect(await signer.ended()).toMatchObject({ status: 0 })
  })

  it('does not count the time of a signature as idle time', async () => {
    const sign = "await new Promise((r) => setTimeout(r, 400)); return Buffer.from('late')"
    const path = signerWith({ sign, options: '{ idleMs: 100 }' })
    const { signer, requests, answers } = startLongRunning(path, signRequest())
    requests.write(asLine(signRequest()))
    expect((await signer.ended()).status).toBe(0)
    expect(answers().map(signatureOf)).toEqual(['late', 'late'])
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('ends with %s while it waits', async (name, status) => {
    const { signer, until } = startLongRunning(counting, signRequest())
    await until(1)
    const since = performance.now()
    signer.child.kill(name)
    expect(await signer.ended()).toMatchObject({ status, err: '' })
    // It does not wait for the whole second of cleaning up.
    expect(performance.now() - since).toBeLessThan(900)
  })

  it('does not answer after a signal, even if its handler returns', async () => {
    const sign = `
      console.error('ready')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return Buffer.from('late')`
    const { signer } = startLongRunning(signerWith({ sign }), signRequest())
    await signer.until('err', /ready/)
    signer.child.kill('SIGTERM')
    expect(await signer.ended()).toEqual({ status: 143, out: '', err: 'ready\n' })
  })

  it('answers once with longRunning: false', async () => {
    const path = signerWith({ options: '{ longRunning: false }' })
    const { signer, answers } = startLongRunning(path, signRequest())
    expect((await signer.ended()).status).toBe(0)
    expect(answers()).toHaveLength(1)
  })

  it.each(['99', '0', '-1', 'x', ''])('answers once when the descriptor is %j', async (fd) => {
    const { signer, answers } = startLongRunning(counting, signRequest(), {
      KUBECRED_SIGNER_FD: fd,
    })
    expect((await signer.ended()).status).toBe(0)
    expect(answers()).toHaveLength(1)
  })

  it('reads requests from a file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kubecred-signer-file-'))
    const file = join(folder, 'requests')
    writeFileSync(file, asLine(signRequest()) + asLine(signRequest()))
    const env = {
      ...process.env,
      EXTERNAL_SIGNER_PLUGIN_CONFIG: JSON.stringify(signRequest()),
      KUBECRED_SIGNER_FD: '3',
    }
    const stdio = ['ignore', 'pipe', 'pipe', openSync(file, 'r')] as const
    const signer = new RunningProgram(process.execPath, [counting], { stdio: [...stdio], env })
    const { status, out } = await signer.ended()
    rmSync(folder, { recursive: true })
    expect([status, out.trim().split('\n').length]).toEqual([0, 3])
  })

  it('ends when its client is gone, even if the descriptor is still open', async () => {
    // The client dies, and this test keeps the other end of the descriptor open.
    const client = writeProgram(`
      import { spawn } from 'node:child_process'
      const child = spawn(process.execPath, [${JSON.stringify(signerWith({}))}], { stdio: ['ignore', 1, 2, 3], detached: true })
      setInterval(() => {}, 1000)`)
    const child = spawn(process.execPath, [client], {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      env: {
        ...process.env,
        EXTERNAL_SIGNER_PLUGIN_CONFIG: JSON.stringify(signRequest()),
        KUBECRED_SIGNER_FD: '3',
      },
    })
    const [text] = await once(child.stdout as NodeJS.ReadableStream, 'data')
    expect(JSON.parse(String(text))).toMatchObject({ kind: 'SignResponse' })
    child.stderr?.resume()
    child.kill('SIGKILL')
    // Both write to the same pipe: it closes when the signer has ended too.
    const [, signal] = await once(child, 'close')
    expect(signal).toBe('SIGKILL')
  })
})
