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

describe('folders of demos', () => {
  it('that were killed are removed', async () => {
    const folder = make(
      'kubecred-sandbox-a',
      JSON.stringify({ pid: await deadProcess(), space: pidNamespace() }),
    )
    expect(removeLeftovers(parent)).toBe(1)
    expect(existsSync(folder)).toBe(false)
  })

  it('that run stay', () => {
    const folder = make('kubecred-sandbox-a')
    markFolder(folder)
    expect(removeLeftovers(parent)).toBe(0)
    expect(existsSync(folder)).toBe(true)
  })

  it.skipIf(process.platform !== 'linux')(
    'whose number another process has now are removed',
    () => {
      make(
        'kubecred-sandbox-a',
        JSON.stringify({ pid: process.pid, startedAt: 1, space: pidNamespace() }),
      )
      expect(removeLeftovers(parent)).toBe(1)
    },
  )

  it.skipIf(process.platform !== 'linux')('of another container stay', async () => {
    make('kubecred-sandbox-a', JSON.stringify({ pid: await deadProcess(), space: 1 }))
    expect(removeLeftovers(parent)).toBe(0)
  })

  it.each([
    ['has no mark', undefined],
    ['has an empty mark', ''],
    ['has a mark that is no JSON', '{'],
    ['has a mark without a process', '{}'],
    ['names every process', `{"pid":-1,"space":${pidNamespace()}}`],
  ])('stay when somebody else may need them: one %s', (_name, mark) => {
    const folder = make('kubecred-sandbox-a', mark)
    expect(removeLeftovers(parent)).toBe(0)
    expect(existsSync(folder)).toBe(true)
  })

  it('are real folders with their name: no link is followed', async () => {
    const mark = JSON.stringify({ pid: await deadProcess(), space: pidNamespace() })
    const elsewhere = make('elsewhere', mark)
    symlinkSync(elsewhere, join(parent, 'kubecred-sandbox-link'))
    expect(removeLeftovers(parent)).toBe(0)
    expect(existsSync(join(elsewhere, 'demo.json'))).toBe(true)
  })

  it('need no folder to be looked for in', () => {
    expect(removeLeftovers(join(parent, 'absent'))).toBe(0)
  })
})
