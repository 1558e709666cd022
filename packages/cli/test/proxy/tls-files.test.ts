import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { makePair } from '../../../core/test/fixtures/make-certificates.ts'
import { followTlsFiles } from '../../src/proxy/tls-files.ts'

let folder: string
let used: (string | undefined)[]
let problems: string[]
let stop: () => void = () => {}
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubecred-tls-'))
  used = []
  problems = []
})
afterEach(() => {
  stop()
  rmSync(folder, { recursive: true, force: true })
})

const files = () => ({ certificate: join(folder, 'tls.crt'), key: join(folder, 'tls.key') })

/** Writes a pair, and returns its certificate. */
function write({ certificate, key }: Awaited<ReturnType<typeof makePair>>): string {
  writeFileSync(files().key, key)
  writeFileSync(files().certificate, certificate)
  return certificate
}

function follow(): void {
  const setSecureContext: Server['setSecureContext'] = ({ cert }) => {
    used.push(cert?.toString())
  }
  stop = followTlsFiles(files(), { setSecureContext }, (message) => problems.push(message))
}

describe('a renewed certificate', () => {
  it('is used if it was renewed before watching began', async () => {
    write(await makePair())
    const renewed = write(await makePair())
    follow()
    expect(used).toEqual([renewed])
  })

  it('is used if it was renewed right after watching began', async () => {
    const [first, second] = [await makePair(), await makePair()]
    write(first)
    follow()
    const renewed = write(second)
    await vi.waitFor(() => expect(used.at(-1)).toBe(renewed), 10_000)
  })

  it('is not used until its key is renewed too', async () => {
    const [first, second] = [await makePair(), await makePair()]
    const old = write(first)
    follow()
    writeFileSync(files().certificate, second.certificate)
    await vi.waitFor(
      () => expect(problems[0]).toContain('the old certificate stays in use'),
      10_000,
    )
    expect(used).toEqual([old])
    writeFileSync(files().key, second.key)
    await vi.waitFor(() => expect(used.at(-1)).toBe(second.certificate), 10_000)
  })
})
