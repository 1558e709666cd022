import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, type TestContext } from 'vitest'
import { DemoRun, type DemoRunOptions, hasScript, hasSoftHsm, processesWith } from './demo-run.ts'

/** Starts a demo that is killed after the test. */
function start({ onTestFinished }: TestContext, options: DemoRunOptions = {}): DemoRun {
  const run = new DemoRun(options)
  onTestFinished(() => run.dispose())
  return run
}

/** Waits until all users have made a request: then every program of the demo is running. */
async function untilBusy(run: DemoRun): Promise<void> {
  await run.until(/jane needs a token/)
  await run.until(/kim's key signed/)
}

describe.skipIf(process.platform !== 'linux')(
  'a demo that is stopped',
  { concurrent: true },
  () => {
    it.skipIf(!hasScript)('by Ctrl-C leaves nothing behind and exits with 0', async (context) => {
      const demo = start(context, { onTerminal: true, env: { DISPLAY: ':99' } })
      await untilBusy(demo)
      await demo.until(/\r.*\d+ requests?, 0 failed · left: jane \d+ s/)
      expect(processesWith(demo.temporary).length).toBeGreaterThan(1)
      demo.type('\x03')
      expect(await demo.end()).toBe(0)
      expect(demo.out).toMatch(/After \d+ s:[\s\S]*failed +0/)
      // The status line is erased, and the cursor was never hidden.
      expect(demo.out).toContain('\r\u001b[K\r\nAfter')
      expect(demo.remains).toEqual([])
      expect(demo.opened).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#\S+$/)
      expect(demo.out).toContain(demo.opened)
    })

    it.skipIf(!hasScript)(
      'by --duration opens no browser with --no-open, and prints plain lines with NO_COLOR',
      async (context) => {
        const env = { DISPLAY: ':99', NO_COLOR: '1' }
        const demo = start(context, {
          onTerminal: true,
          args: ['--no-open', '--duration', '2s'],
          env,
        })
        expect(await demo.end()).toBe(0)
        expect(demo.out).toMatch(/The page: http/)
        expect(demo.out).not.toContain('\u001b')
        expect(demo.opened).toBeUndefined()
      },
    )

    it('by SIGTERM leaves nothing behind and exits with 0', async (context) => {
      const demo = start(context)
      await untilBusy(demo)
      demo.child.kill('SIGTERM')
      expect(await demo.end()).toBe(0)
      expect(demo.remains).toEqual([])
    })

    it('during its start leaves nothing behind', async (context) => {
      const demo = start(context)
      await demo.until(/server in this process/)
      demo.child.kill('SIGINT')
      expect(await demo.end()).toBe(0)
      expect(demo.remains).toEqual([])
    })

    it('by two signals leaves no folder behind', async (context) => {
      const demo = start(context)
      await untilBusy(demo)
      demo.child.kill('SIGINT')
      demo.child.kill('SIGTERM')
      await demo.end()
      expect(readdirSync(demo.temporary)).toEqual([])
      await untilNoProcess(demo)
    })

    it('by kill -9 leaves no process behind, and a folder that the next demo removes', async (context) => {
      const killed = start(context)
      await untilBusy(killed)
      killed.child.kill('SIGKILL')
      await killed.end()
      const [folder] = readdirSync(killed.temporary)
      expect(folder).toMatch(/^kubecred-sandbox-/)
      await untilNoProcess(killed)
      const next = start(context, { folder: killed.temporary, args: ['--duration', '1s'] })
      await next.until(/The page/)
      expect(readdirSync(next.temporary)).not.toContain(folder)
      expect(await next.end()).toBe(0)
      expect(next.remains).toEqual([])
    })
  },
)

describe.skipIf(process.platform !== 'linux')('a demo with a problem', { concurrent: true }, () => {
  it('uses a signer in another process without SoftHSM, and needs no home', async (context) => {
    const env = { PATH: '/nonexistent', HOME: '/dev/null/home' }
    const demo = start(context, { env })
    await untilBusy(demo)
    expect(demo.out).toContain(
      "kim's key is in another process instead of a token: softhsm2-util is not installed.",
    )
    await demo.until(/kim's key signed a TLS handshake \([^)]+\) in another process/)
    expect(demo.out.indexOf('kim ')).toBeGreaterThan(demo.out.indexOf('robot '))
    demo.child.kill('SIGINT')
    expect(await demo.end()).toBe(0)
    expect(demo.out).toMatch(/failed +0/)
    expect(demo.err).toBe('')
    expect(demo.remains).toEqual([])
  })

  it.skipIf(!hasSoftHsm)(
    'reports why a token cannot be created, and runs without it',
    async (context) => {
      const folder = mkdtempSync(join(tmpdir(), 'demo-broken-'))
      const tool = join(folder, 'softhsm2-util')
      writeFileSync(tool, '#!/bin/sh\necho "the disk is full" >&2\nexit 1\n', { mode: 0o755 })
      const PATH = `${folder}${delimiter}${process.env['PATH']}`
      const demo = start(context, { args: ['--duration', '1s'], env: { PATH } })
      expect(await demo.end()).toBe(0)
      rmSync(folder, { recursive: true })
      expect(demo.out).toContain(
        "kim's key is in another process instead of a token: softhsm2-util failed: the disk is full.",
      )
      expect(demo.out).toMatch(/failed +0/)
      expect(demo.out).not.toContain('pin')
      expect(demo.remains).toEqual([])
    },
  )

  it('rejects a port that is in use, before anything is started', async (context) => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const demo = start(context, { args: ['--port', String(port)] })
    expect(await demo.end()).toBe(2)
    other.close()
    expect(demo.err).toContain(`port ${port} is already in use`)
    expect(demo.out).toBe('')
    expect(demo.remains).toEqual([])
  })

  it('uses the port of --port', async (context) => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    other.close()
    await once(other, 'close')
    const demo = start(context, { args: ['--port', String(port), '--duration', '1s'] })
    await demo.until(new RegExp(`The page: http://127\\.0\\.0\\.1:${port}/#`))
    expect(await demo.end()).toBe(0)
  })

  it('fails if there is no temporary folder', async (context) => {
    const demo = start(context, { env: { TMPDIR: '/nonexistent' } })
    expect(await demo.end()).toBe(70)
    expect(demo.err).toContain("the demo's API server cannot start")
    expect(demo.err).toContain('/nonexistent')
  })
})

/** Waits until the demo's processes have ended: a signer ends by itself soon after the demo. */
async function untilNoProcess(demo: DemoRun): Promise<void> {
  while (processesWith(demo.temporary).length > 0) await sleep(20)
}
