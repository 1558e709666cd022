import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, type TestContext } from 'vitest'
import { DemoRun, type DemoRunOptions, hasScript, hasSoftHsm, processesWith } from './demo-run.ts'

/** Starts a demo that ends with the test. */
function start({ onTestFinished }: TestContext, options: DemoRunOptions = {}): DemoRun {
  const run = new DemoRun(options)
  onTestFinished(() => run.dispose())
  return run
}

/** Everybody has made a request, so every program of the demo runs that ever will. */
async function untilBusy(run: DemoRun): Promise<void> {
  await run.until(/jane needs a token/)
  await run.until(/kim's key signed/)
}

describe.skipIf(process.platform !== 'linux')('a demo that is ended', { concurrent: true }, () => {
  it.skipIf(!hasScript)('by Ctrl-C leaves nothing and ends well', async (context) => {
    const demo = start(context, { onTerminal: true, env: { DISPLAY: ':99' } })
    await untilBusy(demo)
    await demo.until(/\r.*\d+ requests?, 0 failed · left: jane \d+ s/)
    expect(processesWith(demo.temporary).length).toBeGreaterThan(1)
    demo.type('\x03')
    expect(await demo.end()).toBe(0)
    expect(demo.out).toMatch(/After \d+ s:[\s\S]*failed +0/)
    // The line that was current is gone, and the cursor was never hidden.
    expect(demo.out).toContain('\r\u001b[K\r\nAfter')
    expect(demo.remains).toEqual([])
    expect(demo.opened).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#\S+$/)
    expect(demo.out).toContain(demo.opened)
  })

  it.skipIf(!hasScript)(
    'opens no browser when told so, and writes lines with NO_COLOR',
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

  it('by SIGTERM leaves nothing and ends well', async (context) => {
    const demo = start(context)
    await untilBusy(demo)
    demo.child.kill('SIGTERM')
    expect(await demo.end()).toBe(0)
    expect(demo.remains).toEqual([])
  })

  it('while it begins leaves nothing', async (context) => {
    const demo = start(context)
    await demo.until(/starts in this process/)
    demo.child.kill('SIGINT')
    expect(await demo.end()).toBe(0)
    expect(demo.remains).toEqual([])
  })

  it('by somebody who cannot wait leaves no folder', async (context) => {
    const demo = start(context)
    await untilBusy(demo)
    demo.child.kill('SIGINT')
    demo.child.kill('SIGTERM')
    await demo.end()
    expect(readdirSync(demo.temporary)).toEqual([])
    await untilAlone(demo)
  })

  it('by kill -9 leaves no process, and a folder that the next demo removes', async (context) => {
    const killed = start(context)
    await untilBusy(killed)
    killed.child.kill('SIGKILL')
    await killed.end()
    const [folder] = readdirSync(killed.temporary)
    expect(folder).toMatch(/^kubecred-sandbox-/)
    await untilAlone(killed)
    const next = start(context, { folder: killed.temporary, args: ['--duration', '1s'] })
    await next.until(/The page/)
    expect(readdirSync(next.temporary)).not.toContain(folder)
    expect(await next.end()).toBe(0)
    expect(next.remains).toEqual([])
  })
})

describe.skipIf(process.platform !== 'linux')(
  'a demo where something is missing',
  { concurrent: true },
  () => {
    it('has a signer in another process where there is no SoftHSM, and needs no home', async (context) => {
      const env = { PATH: '/nonexistent', HOME: '/dev/null/home' }
      const demo = start(context, { env })
      await untilBusy(demo)
      expect(demo.out).toContain(
        "kim's key is in a process and not in a token: softhsm2-util is not installed.",
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
      'says why a token cannot be made, and goes on without it',
      async (context) => {
        const folder = mkdtempSync(join(tmpdir(), 'demo-broken-'))
        const tool = join(folder, 'softhsm2-util')
        writeFileSync(tool, '#!/bin/sh\necho "the disk is full" >&2\nexit 1\n', { mode: 0o755 })
        const PATH = `${folder}${delimiter}${process.env['PATH']}`
        const demo = start(context, { args: ['--duration', '1s'], env: { PATH } })
        expect(await demo.end()).toBe(0)
        rmSync(folder, { recursive: true })
        expect(demo.out).toContain(
          "kim's key is in a process and not in a token: softhsm2-util failed: the disk is full.",
        )
        expect(demo.out).toMatch(/failed +0/)
        expect(demo.out).not.toContain('pin')
        expect(demo.remains).toEqual([])
      },
    )

    it('refuses a port that is taken, before anything is started', async (context) => {
      const other = createServer().listen(0, '127.0.0.1')
      await once(other, 'listening')
      const { port } = other.address() as AddressInfo
      const demo = start(context, { args: ['--port', String(port)] })
      expect(await demo.end()).toBe(2)
      other.close()
      expect(demo.err).toContain(`port ${port} is taken`)
      expect(demo.out).toBe('')
      expect(demo.remains).toEqual([])
    })

    it('takes the port it is given', async (context) => {
      const other = createServer().listen(0, '127.0.0.1')
      await once(other, 'listening')
      const { port } = other.address() as AddressInfo
      other.close()
      await once(other, 'close')
      const demo = start(context, { args: ['--port', String(port), '--duration', '1s'] })
      await demo.until(new RegExp(`The page: http://127\\.0\\.0\\.1:${port}/#`))
      expect(await demo.end()).toBe(0)
    })

    it('says that there is no place for its files', async (context) => {
      const demo = start(context, { env: { TMPDIR: '/nonexistent' } })
      expect(await demo.end()).toBe(70)
      expect(demo.err).toContain("the demo's API server cannot start")
      expect(demo.err).toContain('/nonexistent')
    })
  },
)

/** A signer notices at once that nobody is there any more, but it is a process of its own. */
async function untilAlone(demo: DemoRun): Promise<void> {
  while (processesWith(demo.temporary).length > 0) await sleep(20)
}
