import { SignerAnswerError, SignerFailedError } from '../errors/index.ts'
import { expectedKind, type SignerAsked } from '../protocol/signer-answer.ts'
import type { Unanswered } from './exchange.ts'
import { oneLine, type SignerScrubber } from './signer-secrets.ts'

/** The end of standard error that is shown. */
const SHOWN_TAIL = 4096
const SHOWN_REASON = 500

export interface Failing {
  readonly asked: SignerAsked
  readonly scrub: SignerScrubber
  readonly tookMs: number
  /** The last part of standard error, as printed. */
  readonly stderrTail: string
}

/** The error for a request without an answer. */
export function outcomeError(
  outcome: Unanswered,
  { asked, scrub, tookMs, stderrTail }: Failing,
): unknown {
  const { signer } = asked
  // Cut after scrubbing: half a secret is one that no scrubber knows.
  const tail = scrub(stderrTail).trim().slice(-SHOWN_TAIL)
  const facts = { tookMs, ...(tail !== '' && { stderrTail: tail }) }
  switch (outcome.is) {
    case 'aborted':
      return outcome.reason
    case 'wrong':
      return outcome.error
    case 'failure': {
      // As our own signer says it: the reason in the first line, what to do about it in the others.
      const [first = '', ...rest] = scrub(outcome.text).trim().split('\n')
      const hint = oneLine(rest.join(' '), SHOWN_REASON)
      return new SignerFailedError(
        signer,
        `gave no ${asked.wish}: ${withoutFullStop(oneLine(first, SHOWN_REASON))}`,
        { ...facts, ...(hint !== '' && { hint }) },
      )
    }
    case 'timed-out':
      return new SignerFailedError(
        signer,
        `did not answer within ${seconds(outcome.limitMs)} and was stopped${describePrinted(outcome.printed)}`,
        {
          ...facts,
          hint: 'Confirm sooner, or raise policy.interactiveTimeoutMs or policy.pluginTimeoutMs.',
        },
      )
    case 'gone': {
      const { how, exitStatus, isInOrder } = outcome.end
      if (isInOrder) {
        return new SignerAnswerError(
          signer,
          `${how} without an answer, where ${expectedKind(asked)} was expected`,
        )
      }
      return new SignerFailedError(signer, `${how} and gave no ${asked.wish}`, {
        ...facts,
        exitStatus,
      })
    }
  }
}

function describePrinted(bytes: number): string {
  return bytes === 0 ? '' : `; the ${bytes} bytes it printed are no whole line with an answer`
}

/** What follows in our messages brings its own. */
function withoutFullStop(text: string): string {
  return text.replace(/[.\s]+$/, '') || 'it does not say why'
}

function seconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 100) / 10} s`
}
