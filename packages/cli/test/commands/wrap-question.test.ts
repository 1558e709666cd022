import { readFileSync } from 'node:fs'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hasScript, onTerminal, quoteWords } from '../../../core/test/fixtures/running-program.ts'
import { PROGRAM, Running } from '../spawn-program.ts'

let sandbox: Sandbox
let kubeconfig: string
let before: string
beforeEach(async () => {
  sandbox = await startSandbox()
  const exec = await sandbox.plugin({ user: 'jane' })
  kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
  before = readFileSync(kubeconfig, 'utf8')
})
afterEach(() => sandbox.close())

/** Answers the question of `wrap` at a terminal with these keys. */
async function answer(keys: string): Promise<{ status: number | null; shown: string }> {
  const line = quoteWords(process.execPath, PROGRAM, 'wrap', '--kubeconfig', kubeconfig)
  const running = new Running(...onTerminal(line))
  await running.until('out', /Apply this change\? \[y\/N\] /)
  expect(readFileSync(kubeconfig, 'utf8')).toBe(before)
  running.child.stdin?.write(keys)
  return { status: await running.end(), shown: running.out }
}

describe.skipIf(!hasScript)('the confirmation of wrap (needs script: apt install bsdutils)', () => {
  it.each(['y\r', 'yes\r', 'Y\r'])('answered with %j changes the file', async (keys) => {
    const { status, shown } = await answer(keys)
    expect(shown).toContain('Done. The original file:')
    expect(status).toBe(0)
    expect(readFileSync(kubeconfig, 'utf8')).toContain('kubecred-token')
  })

  it.each([
    ['n', 'n\r', 1],
    ['nothing', '\r', 1],
    ['something else', 'yesterday\r', 1],
    ['Ctrl-D', '\x04', 1],
    ['Ctrl-C', '\x03', 130],
    ['Ctrl-C in the middle of yes', 'ye\x03', 130],
  ])('answered with %s leaves the file unchanged', async (_, keys, wanted) => {
    const { status, shown } = await answer(keys)
    expect(shown).not.toContain('Done.')
    if (wanted === 1) expect(shown).toContain('Nothing was changed.')
    expect(status).toBe(wanted)
    expect(readFileSync(kubeconfig, 'utf8')).toBe(before)
  })
})
