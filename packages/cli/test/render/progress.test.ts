import type { CredentialEvent, SourceLabel } from 'kubecred'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { choosePalette } from '../../src/render/colour.ts'
import { Patience } from '../../src/render/progress.ts'
import { Words } from '../../src/render/stderr-writer.ts'
import { screenOf } from '../screen.ts'

const AWS: SourceLabel = { kind: 'exec', name: '/opt/bin/aws' }
const KEY: SourceLabel = { kind: 'signer', name: 'yubi' }

let written: string
let words: Words
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  written = ''
  const write = (text: string): boolean => {
    written += text
    return true
  }
  words = new Words({ write }, PLAIN)
})
afterEach(() => {
  vi.useRealTimers()
})
const PLAIN = choosePalette(false, {})

const make = (columns = 80, isTerminal = true): Patience =>
  new Patience(words, { isTerminal, canRewrite: true, columns })
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
  holds: ['token'],
})

describe('who waits', () => {
  it('is told nothing in the first second, then what for and since when, in one line', () => {
    const patience = make()
    patience.begin('the server a:1')
    vi.advanceTimersByTime(999)
    expect(written).toBe('')
    vi.advanceTimersByTime(1)
    expect(shown()).toBe('… waiting for the server a:1, for 1 s now')
    vi.advanceTimersByTime(4000)
    expect(shown()).toBe('… waiting for the server a:1, for 5 s now')
    patience.end()
    expect(shown()).toBe('')
    vi.advanceTimersByTime(60_000)
    expect(shown()).toBe('')
  })

  it('hears of a place in the queue, then of the plugin, then of the server, each with its own time', () => {
    const patience = make()
    patience.begin('the server a:1')
    patience.observe(started(AWS))
    vi.advanceTimersByTime(2000)
    expect(shown()).toBe('… waiting for a place to run plugin aws, for 2 s now')
    patience.observe(running(AWS))
    expect(shown()).toBe('')
    vi.advanceTimersByTime(3000)
    expect(shown()).toBe('… waiting for plugin aws, for 3 s now')
    patience.observe(ended(AWS))
    patience.observe(succeeded(AWS))
    expect(shown()).toBe('')
    vi.advanceTimersByTime(1000)
    expect(shown()).toBe('… waiting for the server a:1, for 1 s now')
  })

  it('sees other lines above, whole, and the rest of the time below', () => {
    const patience = make()
    patience.begin('the server a:1')
    vi.advanceTimersByTime(1000)
    words.warn('it is late')
    expect(shown()).toBe('Warning: it is late\n')
    vi.advanceTimersByTime(1000)
    expect(shown()).toBe('Warning: it is late\n… waiting for the server a:1, for 2 s now')
  })

  it.each([
    ['an interactive plugin has the terminal', running(AWS, true), ended(AWS)],
    [
      'a signer wants to be touched',
      { type: 'user-prompt', source: KEY, text: 'touch it' } as const,
      { type: 'prompt-ended', source: KEY } as const,
    ],
  ])('is left alone while %s', (_, begin, end) => {
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

  it('is left alone while an unfinished line of a plugin may be a question', () => {
    const patience = make()
    patience.begin('the server a:1')
    words.pass('Code: ')
    vi.advanceTimersByTime(5000)
    expect(written).toBe('Code: ')
  })

  it('hears nothing of a run in the background, nor where there is no terminal', () => {
    make(80, false).begin('the server a:1')
    make().observe(started(AWS, true))
    vi.advanceTimersByTime(60_000)
    expect(written).toBe('')
  })

  it('is told once and after five seconds, where lines stay', () => {
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
    expect(shown()).toBe('kubecred: waiting for plugin aws, for 5 s now\n')
  })

  it('is told in lines that stay on a terminal that cannot rewrite them', () => {
    new Patience(words, { isTerminal: true, canRewrite: false, columns: 80 }).begin('the agent')
    vi.advanceTimersByTime(60_000)
    expect(written).toBe('kubecred: waiting for the agent, for 5 s now\n')
  })

  it('never gets a line that is wider than the terminal, nor one that steers it', () => {
    const patience = make(50)
    patience.begin(`the server ${'a'.repeat(100)}\n\u001b[31m`)
    vi.advanceTimersByTime(1000)
    expect(shown()).toMatch(/^… waiting for the server a+…, for 1 s now$/)
    expect(shown().length).toBeLessThan(50)
    expect(written).not.toContain('\u001b[31m')
  })
})
