import { describe, expect, it } from 'vitest'
import { decideInteractivity, INTERACTIVE_MODES } from '../../src/kubeconfig/exec-config.ts'

const NO_TERMINAL = { refused: 'standard input is not a terminal' }
const IN_USE = { refused: 'standard input is unavailable: used by a reader' }
const yes = { interactive: true }
const no = { interactive: false }

describe('whether a plugin may ask', () => {
  const stdinUnavailable = 'used by a reader'
  it.each([
    { mode: 'Never', isTerminal: false, free: no, used: no },
    { mode: 'Never', isTerminal: true, free: no, used: no },
    { mode: 'IfAvailable', isTerminal: false, free: no, used: no },
    { mode: 'IfAvailable', isTerminal: true, free: yes, used: no },
    { mode: 'Always', isTerminal: false, free: NO_TERMINAL, used: NO_TERMINAL },
    { mode: 'Always', isTerminal: true, free: yes, used: IN_USE },
  ] as const)('$mode, terminal: $isTerminal', ({ mode, isTerminal, free, used }) => {
    expect(decideInteractivity(mode, { isTerminal })).toEqual(free)
    expect(decideInteractivity(mode, { isTerminal, stdinUnavailable })).toEqual(used)
  })

  it('a reader without a name leaves the reason alone', () => {
    expect(decideInteractivity('Always', { isTerminal: true, stdinUnavailable: '' })).toEqual({
      refused: 'standard input is unavailable',
    })
  })

  it.each(INTERACTIVE_MODES)('a run ahead of time never asks, in mode %s', (mode) => {
    const decision = decideInteractivity(mode, { isTerminal: true, early: true })
    expect(decision).not.toEqual(yes)
  })

  it('a plugin that must ask says that nobody waits for a run ahead of time', () => {
    expect(decideInteractivity('Always', { isTerminal: true, early: true })).toEqual({
      refused: 'nobody is waiting for this run',
    })
  })
})
