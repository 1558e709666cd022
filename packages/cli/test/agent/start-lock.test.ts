import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AgentPlace, agentPlace } from '../../src/agent/agent-paths.ts'
import { identifyProcess, isRunning } from '../../src/agent/process-id.ts'
import { takeStartLock } from '../../src/agent/start-lock.ts'

let folder: string
let place: AgentPlace

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ka-'))
  place = agentPlace({ XDG_RUNTIME_DIR: folder })
  mkdirSync(place.folder, { mode: 0o700 })
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('takeStartLock', () => {
  it('is had by one at a time, and leaves nothing behind', () => {
    const release = takeStartLock(place)
    expect(takeStartLock(place)).toBeUndefined()
    release?.()
    const again = takeStartLock(place)
    expect(again).toBeDefined()
    again?.()
    expect(readdirSync(place.folder)).toEqual([])
  })

  it.each([
    ['of a process that is gone', JSON.stringify({ pid: spawnSync('true').pid })],
    [
      'of an earlier process with a living number',
      JSON.stringify({ pid: process.pid, startedAt: 1 }),
    ],
    ['that is nonsense', 'x'],
    ['that is empty', ''],
    ['that names nobody', '{}'],
  ])('takes over a lock %s', (_, content) => {
    writeFileSync(place.lock, content)
    const release = takeStartLock(place)
    expect(release).toBeDefined()
    release?.()
    expect(existsSync(place.lock)).toBe(false)
  })

  it('leaves the lock of a living process alone', () => {
    writeFileSync(place.lock, JSON.stringify(identifyProcess(process.ppid)))
    expect(takeStartLock(place)).toBeUndefined()
  })
})

it.runIf(process.platform === 'linux')('a process is told from a later one with its number', () => {
  const own = identifyProcess(process.pid)
  expect(own.startedAt).toBeGreaterThan(0)
  expect(isRunning(own)).toBe(true)
  expect(isRunning({ ...own, startedAt: 1 })).toBe(false)
})
