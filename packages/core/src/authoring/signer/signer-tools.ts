import { SignerFailedError } from '../../errors/signer-errors.ts'
import { SIGNER_KINDS, USER_PROMPT_KIND } from '../../protocol/signer-wire.ts'
import { showControlCharacters } from '../../secret/scrub.ts'
import { programName } from '../program-name.ts'
import type { Prompt, Prompting } from '../prompt.ts'
import { line } from './answer-request.ts'
import type { SignerContext } from './handlers.ts'
import type { SignerKinds } from './sign-request.ts'

/**
 * Makes a function that asks the person at the terminal, for a program around `listenSigner`.
 *
 * @param prompting `signal` ends a question that nobody has answered; `interrupt` is called for Ctrl-C.
 */
export function terminalPrompt(prompting: Pick<Prompting, 'signal' | 'interrupt'>): Prompt {
  // Loaded by the first question: most signatures need none.
  let loaded: Promise<Prompt> | undefined
  return async (question, options) => {
    loaded ??= import('../prompt.ts').then(({ makePrompt }) =>
      makePrompt({ ...prompting, interactive: true, refuse: nobodyToAsk }),
    )
    return (await loaded)(question, options)
  }
}

function nobodyToAsk(reason: string): SignerFailedError {
  return new SignerFailedError(programName(), `cannot ask anybody: ${reason}`, {
    hint: 'Run the client in a terminal, or let the signer find the answer where its documentation says.',
  })
}

/** Ways to reach the person who waits. */
export interface Telling {
  /** Writes one line of the protocol to the client. */
  readonly write: (text: string) => Promise<void>
  /** Whether the client is known to read more than one line: others would take the first for the answer. */
  readonly readsLines: boolean
}

/** Whether the client is one of ours: it reads lines before the answer, and a chain in place of a certificate. */
export function isOurClient(
  kinds: SignerKinds,
  { readsLines }: Pick<Telling, 'readsLines'>,
): boolean {
  return readsLines && kinds === SIGNER_KINDS.specification
}

/** Makes the function that tells the person what to do: through the client where it can, else on standard error. */
export function makeTell(kinds: SignerKinds, telling: Telling): SignerContext['prompt'] {
  return async (text) => {
    const shown = showControlCharacters(text).replace(/\s+/g, ' ').trim()
    if (isOurClient(kinds, telling))
      await telling.write(line({ kind: USER_PROMPT_KIND, prompt: shown }))
    else process.stderr.write(`${shown}\n`)
  }
}
