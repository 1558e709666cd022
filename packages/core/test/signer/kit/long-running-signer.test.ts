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
  startStaying,
  VERSION,
  writeProgram,
} from './spawn-signer.ts'

/** Signs with a number that goes up, so that order and loss show. */
const counting = signerWith({
  before: 'let count = 0',
  sign: 'count += 1; if (configuration.fail) throw new Error("no, " + configuration.pin); return Buffer.from(String(count))',
})
const signatureOf = ({ signature }: Readonly<Record<string, unknown>>): string =>
  Buffer.from(String(signature), 'base64').toString()

describe('a signer that stays', () => {
  it('answers further requests in order, from one process', async () => {
    const { signer, requests, until } = startStaying(counting, signRequest())
    await until(1)
    requests.write(asLine(signRequest()) + asLine(signRequest()) + asLine(signRequest()))
    expect((await until(4)).map(signatureOf)).toEqual(['1', '2', '3', '4'])
    requests.end()
    expect(await signer.ended()).toMatchObject({ status: 0, err: '' })
  })

  it('takes lines in any pieces, and the last one without its end', async () => {
    const { signer, requests, until, answers } = startStaying(counting, signRequest())
    const text = asLine(signRequest({ configuration: { name: 'Jürgen' } }))
    for (const byte of Buffer.from(text)) requests.write(Buffer.of(byte))
    await until(2)
    requests.end(asLine(signRequest()).trimEnd())
    expect((await signer.ended()).status).toBe(0)
    expect(answers().map(signatureOf)).toEqual(['1', '2', '3'])
  })

  it('answers a failure with a refusal, without the PIN, and goes on', async () => {
    const bad = signRequest({ configuration: { fail: 'yes', pin: '123456' } })
    const { signer, requests, until } = startStaying(counting, bad)
    requests.write(asLine(signRequest()))
    const refusal = { apiVersion: VERSION, kind: 'SignerError', message: 'no, [secret]' }
    expect(await until(2)).toMatchObject([refusal, { kind: 'SignResponse' }])
    requests.end()
    expect(await signer.ended()).toMatchObject({ status: 0, err: '' })
  })

  it.each([
    ['no JSON', 'not json\n', 'the request to this signer is no JSON'],
    ['another version', asLine({ apiVersion: 'v1' }), 'apiVersion in the request'],
    [
      'a message that is no base64',
      asLine(signRequest({ message: '?' })),
      'message in the request',
    ],
  ])('answers a line it cannot read with a refusal: %s', async (_, line, words) => {
    const { signer, requests, until } = startStaying(counting, signRequest())
    requests.write(line)
    requests.write(asLine(signRequest()))
    const [, refusal, next] = await until(3)
    expect(refusal).toMatchObject({ kind: 'SignerError', message: expect.stringContaining(words) })
    expect(next).toMatchObject({ kind: 'SignResponse' })
    requests.end()
    await signer.ended()
  })

  it('ends when a line never ends', async () => {
    const { signer, requests, until } = startStaying(counting, signRequest())
    await until(1)
    requests.write('x'.repeat(2 * 1024 * 1024))
    const { status, err } = await signer.ended()
    expect(status).toBe(1)
    expect(err).toContain('a line is longer than a mebibyte')
  })

  it('answers certificates and signatures in turn', async () => {
    const { requests, until, signer } = startStaying(counting, certificateRequest())
    requests.write(asLine(signRequest({ kind: 'Sign' })))
    expect(await until(2)).toMatchObject([
      { kind: 'SignerError', message: 'no certificate here' },
      { kind: 'ExternalSigner' },
    ])
    requests.end()
    await signer.ended()
  })

  it('ends after a while without a request', async () => {
    const path = signerWith({ options: '{ idleMs: 100 }' })
    const { signer } = startStaying(path, signRequest())
    expect(await signer.ended()).toMatchObject({ status: 0, err: '' })
  })

  it('stays until its client is done with it, however long nothing comes', async () => {
    // Minutes pass at once.
    const before = `const { setTimeout: wait } = globalThis
      globalThis.setTimeout = (work, ms, ...rest) => wait(work, ms >= 60_000 ? 1 : ms, ...rest)`
    const { signer, requests, until } = startStaying(signerWith({ before }), signRequest())
    await until(1)
    await new Promise((resolve) => setTimeout(resolve, 100))
    requests.write(asLine(signRequest()))
    await until(2)
    requests.end()
    expect(await signer.ended()).toMatchObject({ status: 0 })
  })

  it('does not count the time of a signature as idle', async () => {
    const sign = "await new Promise((r) => setTimeout(r, 400)); return Buffer.from('late')"
    const path = signerWith({ sign, options: '{ idleMs: 100 }' })
    const { signer, requests, answers } = startStaying(path, signRequest())
    requests.write(asLine(signRequest()))
    expect((await signer.ended()).status).toBe(0)
    expect(answers().map(signatureOf)).toEqual(['late', 'late'])
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('ends with %s while it waits', async (name, status) => {
    const { signer, until } = startStaying(counting, signRequest())
    await until(1)
    const since = performance.now()
    signer.child.kill(name)
    expect(await signer.ended()).toMatchObject({ status, err: '' })
    // It does not sit out the second for cleaning up.
    expect(performance.now() - since).toBeLessThan(900)
  })

  it('gives no answer after a signal, whatever its function makes of it', async () => {
    const sign = `
      console.error('ready')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return Buffer.from('late')`
    const { signer } = startStaying(signerWith({ sign }), signRequest())
    await signer.until('err', /ready/)
    signer.child.kill('SIGTERM')
    expect(await signer.ended()).toEqual({ status: 143, out: '', err: 'ready\n' })
  })

  it('answers once where it does not want to stay', async () => {
    const path = signerWith({ options: '{ longRunning: false }' })
    const { signer, answers } = startStaying(path, signRequest())
    expect((await signer.ended()).status).toBe(0)
    expect(answers()).toHaveLength(1)
  })

  it.each(['99', '0', '-1', 'x', ''])('answers once when the descriptor is %j', async (fd) => {
    const { signer, answers } = startStaying(counting, signRequest(), { KUBECRED_SIGNER_FD: fd })
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

  it('ends when its client is gone, even if its descriptor is held open', async () => {
    // The client dies; this test keeps the other end of the descriptor.
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
