import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { listProcesses, readPs, runPs } from '../../src/node/process-table.ts'

/** Not recorded on a Mac: written from the manual page ps(1) of macOS, for `ps -axo pid=,ppid=,lstart=`. */
const MACOS = `    1     0 Mon Nov 16 08:00:01 2026
  318     1 Mon Nov 16 08:00:42 2026
50120   318 Tue Nov  3 15:41:58 2026
  PID  PPID STARTED
50121 50120
ps: a message

`

describe('the output of ps', () => {
  it('has a process on each line, with its parent and its start time', () => {
    expect(readPs(MACOS)).toEqual([
      { pid: 1, parent: 0, startedAt: 'Mon Nov 16 08:00:01 2026' },
      { pid: 318, parent: 1, startedAt: 'Mon Nov 16 08:00:42 2026' },
      { pid: 50120, parent: 318, startedAt: 'Tue Nov  3 15:41:58 2026' },
    ])
  })

  // The `ps` of Debian has the same options; package procps.
  it.skipIf(process.platform === 'win32' || !existsSync('/bin/ps'))(
    'has this process with the same start time each time',
    () => {
      const find = () => readPs(runPs()).find(({ pid }) => pid === process.pid)
      expect(find()).toMatchObject({ parent: process.ppid })
      expect(find()?.startedAt).toMatch(/^\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4}$/)
      expect(find()).toEqual(find())
    },
  )
})

describe.runIf(process.platform === 'linux')('the list of processes', () => {
  it('has this process and its parent', () => {
    const found = listProcesses().find(({ pid }) => pid === process.pid)
    expect(found).toMatchObject({ pid: process.pid, parent: process.ppid })
    expect(found?.startedAt).toBeTruthy()
  })

  it.skipIf(!existsSync('/bin/ps')).each([
    ['darwin', /^\w{3} \w{3} /],
    ['linux', /^\d+$/],
    ['win32', /^none$/],
  ])('is that of the system: %s', (platform, startedAt) => {
    const own = Object.getOwnPropertyDescriptor(process, 'platform') ?? {}
    Object.defineProperty(process, 'platform', { ...own, value: platform })
    try {
      const found = listProcesses().find(({ pid }) => pid === process.pid)
      expect(found?.startedAt ?? 'none').toMatch(startedAt)
    } finally {
      Object.defineProperty(process, 'platform', own)
    }
  })
})
