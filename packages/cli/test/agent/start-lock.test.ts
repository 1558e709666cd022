import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { identifyProcess, isRunning } from 'kubecred/internal'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AgentPaths, agentPaths } from '../../src/agent/agent-paths.ts'
import { takeStartLock } from '../../src/agent/start-lock.ts'

let folder: string
let paths: AgentPaths

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ka-'))
  paths = agentPaths({ XDG_RUNTIME_DIR: folder })
  mkdirSync(paths.folder, { mode: 0o700 })
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('takeStartLock', () => {
  it('has one holder at a time, and leaves no file behind', () => {
    const release = takeStartLock(paths)
    expect(takeStartLock(paths)).toBeUndefined()
    release?.()
    const again = takeStartLock(paths)
    expect(again).toBeDefined()
    again?.()
    expect(readdirSync(paths.folder)).toEqual([])
  })

  it.each([
    ['of a process that has ended', JSON.stringify({ pid: spawnSync('true').pid })],
    [
      'of an earlier process whose ID is in use again',
      JSON.stringify({ pid: process.pid, startedAt: 1 }),
    ],
    ['that is malformed', 'x'],
    ['that is empty', ''],
    ['without a process ID', '{}'],
    ['of our own process group', '{"pid":0}'],
    ['of every process', '{"pid":-1}'],
    ['of half a process', '{"pid":1.5}'],
    ['of a process beyond every limit', '{"pid":99999999999}'],
    ['that is null', 'null'],
  ])('takes over a lock %s', (_, content) => {
    writeFileSync(paths.lock, content)
    const release = takeStartLock(paths)
    expect(release).toBeDefined()
    release?.()
    expect(existsSync(paths.lock)).toBe(false)
  })

  it('takes over a lock that is a folder, or a link to nothing', () => {
    const folderAt = (path: string): unknown => mkdirSync(path)
    const linkAt = (path: string): unknown => symlinkSync('/nowhere/at/all', path)
    for (const make of [folderAt, linkAt]) {
      make(paths.lock)
      const release = takeStartLock(paths)
      expect(release).toBeDefined()
      release?.()
      expect(readdirSync(paths.folder)).toEqual([])
    }
  })

  it('leaves the lock of a running process alone', () => {
    writeFileSync(paths.lock, JSON.stringify(identifyProcess(process.ppid)))
    expect(takeStartLock(paths)).toBeUndefined()
  })
})

it.runIf(process.platform === 'linux')(
  'a process is distinguished from a later one with the same ID',
  () => {
    const own = identifyProcess(process.pid)
    expect(own.startedAt).toBeGreaterThan(0)
    expect(isRunning(own)).toBe(true)
    expect(isRunning({ ...own, startedAt: 1 })).toBe(false)
  },
)
