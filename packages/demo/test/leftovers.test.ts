import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pidNamespace } from '@kubecred/cli/internal'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { markFolder, removeLeftovers } from '../src/leftovers.ts'

let parent: string
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'leftovers-test-'))
})
afterEach(() => rmSync(parent, { recursive: true, force: true }))

function make(name: string, mark?: string): string {
  const folder = join(parent, name)
  mkdirSync(folder)
  if (mark !== undefined) writeFileSync(join(folder, 'demo.json'), mark)
  return folder
}

async function deadProcess(): Promise<number> {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  return child.pid ?? 0
}

describe('the folder of a demo', () => {
  it('is removed if the demo was killed', async () => {
    const folder = make(
      'kubecred-sandbox-a',
      JSON.stringify({ pid: await deadProcess(), space: pidNamespace() }),
    )
    expect(removeLeftovers(parent)).toBe(1)
    expect(existsSync(folder)).toBe(false)
  })

  it('is kept while the demo runs', () => {
    const folder = make('kubecred-sandbox-a')
    markFolder(folder)
    expect(removeLeftovers(parent)).toBe(0)
    expect(existsSync(folder)).toBe(true)
  })

  it.skipIf(process.platform !== 'linux')(
    'is removed if another process has the pid of the demo now',
    () => {
      make(
        'kubecred-sandbox-a',
        JSON.stringify({ pid: process.pid, startedAt: 1, space: pidNamespace() }),
      )
      expect(removeLeftovers(parent)).toBe(1)
    },
  )

  it.skipIf(process.platform !== 'linux')(
    'is kept if it belongs to another container',
    async () => {
      make('kubecred-sandbox-a', JSON.stringify({ pid: await deadProcess(), space: 1 }))
      expect(removeLeftovers(parent)).toBe(0)
    },
  )

  it.each([
    ['without a mark', undefined],
    ['with an empty mark', ''],
    ['with a mark that is not JSON', '{'],
    ['with a mark without a pid', '{}'],
    ['with the pid -1', `{"pid":-1,"space":${pidNamespace()}}`],
  ])('is kept if it may be in use: one %s', (_name, mark) => {
    const folder = make('kubecred-sandbox-a', mark)
    expect(removeLeftovers(parent)).toBe(0)
    expect(existsSync(folder)).toBe(true)
  })

  it('is not looked for behind a link', async () => {
    const mark = JSON.stringify({ pid: await deadProcess(), space: pidNamespace() })
    const elsewhere = make('elsewhere', mark)
    symlinkSync(elsewhere, join(parent, 'kubecred-sandbox-link'))
    expect(removeLeftovers(parent)).toBe(0)
    expect(existsSync(join(elsewhere, 'demo.json'))).toBe(true)
  })

  it('is not found in a missing parent folder', () => {
    expect(removeLeftovers(join(parent, 'absent'))).toBe(0)
  })
})
