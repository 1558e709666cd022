import type { CredentialEvent, SourceLabel } from 'kubecred'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { choosePalette } from '../../src/render/colour.ts'
import { Progress } from '../../src/render/progress.ts'
import { StderrWriter } from '../../src/render/stderr-writer.ts'
import { screenOf } from '../screen.ts'

const AWS: SourceLabel = { kind: 'exec', name: '/opt/bin/aws' }
const KEY: SourceLabel = { kind: 'signer', name: 'yubi' }

let written: string
let words: StderrWriter
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  written = ''
  const write = (text: string): boolean => {
    written += text
    return true
  }
  words = new StderrWriter({ write }, PLAIN)
})
afterEach(() => {
  vi.useRealTimers()
})
const PLAIN = choosePalette(false, {})

const make = (columns = 80, isTerminal = true): Progress =>
  new Progress(words, { isTerminal, canRewrite: true, columns })
const shown = (): string => screenOf(written)
const started = (source: SourceLabel, ahead = false): CredentialEvent => ({
  type: 'run-started',
  source,
  reason: 'first',
  ahead,
})
const running = (source: SourceLabel, isInteractive = false): CredentialEvent => ({
  type: 'plugin-started',
  source,
  isInteractive,
})
const ended = (source: SourceLabel): CredentialEvent => ({
  type: 'plugin-ended',
  source,
  process: { isStarted: true, exitStatus: 0, tookMs: 1 },
})
const succeeded = (source: SourceLabel): CredentialEvent => ({
  type: 'run-succeeded',
  source,
  reason: 'first',
  tookMs: 1,
  isSame: false,
  expiresAt: undefined,
  parts: ['token'],
})

describe('the progress line', () => {
  it('appears after a second, with what is waited for and since when', () => {
    const patience = make()
    patience.begin('the server a:1')
    vi.advanceTimersByTime(999)
    expect(written).toBe('')
    vi.advanceTimersByTime(1)
    expect(shown()).toBe('… waiting for the server a:1 (1 s)')
    vi.advanceTimersByTime(4000)
    expect(shown()).toBe('… waiting for the server a:1 (5 s)')
    patience.end()
    expect(shown()).toBe('')
    vi.advanceTimersByTime(60_000)
    expect(shown()).toBe('')
  })

  it('shows the queue, then the plugin, then the server, each with its own time', () => {
    const patience = make()
    patience.begin('the server a:1')
    patience.observe(started(AWS))
    vi.advanceTimersByTime(2000)
    expect(shown()).toBe('… waiting for a slot to run plugin aws (2 s)')
    patience.observe(running(AWS))
    expect(shown()).toBe('')
    vi.advanceTimersByTime(3000)
    expect(shown()).toBe('… waiting for plugin aws (3 s)')
    patience.observe(ended(AWS))
    patience.observe(succeeded(AWS))
    expect(shown()).toBe('')
    vi.advanceTimersByTime(1000)
    expect(shown()).toBe('… waiting for the server a:1 (1 s)')
  })

  it('stays below other lines, which are written whole', () => {
    const patience = make()
    patience.begin('the server a:1')
    vi.advanceTimersByTime(1000)
    words.warn('it is late')
    expect(shown()).toBe('Warning: it is late\n')
    vi.advanceTimersByTime(1000)
    expect(shown()).toBe('Warning: it is late\n… waiting for the server a:1 (2 s)')
  })

  it.each([
    ['an interactive plugin has the terminal', running(AWS, true), ended(AWS)],
    [
      'a signer prompts for a touch',
      { type: 'user-prompt', source: KEY, text: 'touch it' } as const,
      { type: 'prompt-ended', source: KEY } as const,
    ],
  ])('is hidden while %s', (_, begin, end) => {
    const patience = make()
    patience.begin('the server a:1')
    patience.observe(started(AWS))
    vi.advanceTimersByTime(1000)
    patience.observe(begin)
    expect(shown()).toBe('')
    vi.advanceTimersByTime(60_000)
    expect(shown()).toBe('')
    patience.observe(end)
    vi.advanceTimersByTime(1000)
    expect(shown()).toMatch(/waiting for/)
  })

  it('is hidden while an unfinished line of a plugin may be a prompt', () => {
    const patience = make()
    patience.begin('the server a:1')
    words.pass('Code: ')
    vi.advanceTimersByTime(5000)
    expect(written).toBe('Code: ')
  })

  it('ignores runs in the background, and is off without a terminal', () => {
    make(80, false).begin('the server a:1')
    make().observe(started(AWS, true))
    vi.advanceTimersByTime(60_000)
    expect(written).toBe('')
  })

  it('is written once, after five seconds, if another program shares the terminal', () => {
    const patience = make()
    patience.begin('the login')
    vi.advanceTimersByTime(1000)
    patience.shareTerminal()
    expect(shown()).toBe('')
    patience.observe(started(AWS))
    patience.observe(running(AWS))
    vi.advanceTimersByTime(4999)
    expect(shown()).toBe('')
    vi.advanceTimersByTime(60_000)
    patience.observe({ type: 'prompt-ended', source: KEY })
    vi.advanceTimersByTime(60_000)
    expect(shown()).toBe('kubecred: waiting for plugin aws (5 s)\n')
  })

  it('is written once on a terminal that cannot rewrite lines', () => {
    new Progress(words, { isTerminal: true, canRewrite: false, columns: 80 }).begin('the agent')
    vi.advanceTimersByTime(60_000)
    expect(written).toBe('kubecred: waiting for the agent (5 s)\n')
  })

  it('is never wider than the terminal, and has no control characters', () => {
    const patience = make(50)
    patience.begin(`the server ${'a'.repeat(100)}\n\u001b[31m`)
    vi.advanceTimersByTime(1000)
    expect(shown()).toMatch(/^… waiting for the server a+… \(1 s\)$/)
    expect(shown().length).toBeLessThan(50)
    expect(written).not.toContain('\u001b[31m')
  })
})
