import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PROGRAM } from './spawn-program.ts'

const PRINTS_PEAK = new URL('./fixtures/prints-peak.mjs', import.meta.url).href
const MEGABYTE = Buffer.alloc(1024 * 1024, 'x')

let server: Server
let url: string
beforeAll(async () => {
  // Answers /N with N megabytes, as fast as they are read.
  server = createServer(({ url: path = '' }, response) => {
    const count = Number(path.slice(1))
    Readable.from(Array.from({ length: count }, () => MEGABYTE)).pipe(response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close().closeAllConnections())

/** Fetches that many megabytes, reads them slower than they arrive, and returns the memory of the program in megabytes. */
async function peakFor(megabytes: number): Promise<number> {
  const args = ['fetch', `/${megabytes}`, '--server', url, '--kubeconfig', '/dev/null']
  const program = spawn(process.execPath, ['--import', PRINTS_PEAK, PROGRAM, ...args], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const errors = text(program.stderr)
  let read = 0
  for await (const chunk of program.stdout) {
    read += (chunk as Buffer).length
    await pause()
  }
  const err = await errors
  expect(read).toBe(megabytes * MEGABYTE.length)
  const [, peak] = /^peak (\d+)\n$/.exec(err) ?? []
  if (peak === undefined) throw new Error(err)
  return Number(peak) / 1024
}

it.skipIf(process.platform === 'win32')(
  'a large response that is read slowly is not kept in memory',
  async () => {
    const [small, large] = [await peakFor(1), await peakFor(128)]
    expect(large - small).toBeLessThan(64)
  },
)
