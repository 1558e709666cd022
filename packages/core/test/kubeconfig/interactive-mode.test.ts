import { describe, expect, it } from 'vitest'
import { decideInteractivity, INTERACTIVE_MODES } from '../../src/kubeconfig/exec-config.ts'

const NO_TERMINAL = { refused: 'standard input is not a terminal' }
const IN_USE = { refused: 'standard input is unavailable: used by a reader' }
const yes = { interactive: true }
const no = { interactive: false }

describe('decideInteractivity', () => {
  const stdinUnavailable = 'used by a reader'
  it.each([
    { mode: 'Never', isTerminal: false, free: no, used: no },
    { mode: 'Never', isTerminal: true, free: no, used: no },
    { mode: 'IfAvailable', isTerminal: false, free: no, used: no },
    { mode: 'IfAvailable', isTerminal: true, free: yes, used: no },
    { mode: 'Always', isTerminal: false, free: NO_TERMINAL, used: NO_TERMINAL },
    { mode: 'Always', isTerminal: true, free: yes, used: IN_USE },
  ] as const)('with $mode, terminal: $isTerminal', ({ mode, isTerminal, free, used }) => {
    expect(decideInteractivity(mode, { isTerminal })).toEqual(free)
    expect(decideInteractivity(mode, { isTerminal, stdinUnavailable })).toEqual(used)
  })

  it('has no reader in the reason if it is unknown', () => {
    expect(decideInteractivity('Always', { isTerminal: true, stdinUnavailable: '' })).toEqual({
      refused: 'standard input is unavailable',
    })
  })

  it.each(INTERACTIVE_MODES)('is never interactive in a run before expiry, with %s', (mode) => {
    const decision = decideInteractivity(mode, { isTerminal: true, early: true })
    expect(decision).not.toEqual(yes)
  })

  it('rejects a run before expiry with Always, because no request is waiting', () => {
    expect(decideInteractivity('Always', { isTerminal: true, early: true })).toEqual({
      refused: 'no request is waiting for this run',
    })
  })
})
