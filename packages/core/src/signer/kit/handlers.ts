import type { SignatureScheme } from '../../credential/signing-key.ts'
import { SignerFailedError } from '../../errors/index.ts'
import { programName } from '../../plugin/kit/program.ts'
import type { Prompt, Prompting } from '../../plugin/kit/prompt.ts'
import { showControlCharacters } from '../../secret/scrub.ts'
import { SIGNER_KINDS, USER_PROMPT_KIND } from '../signer-protocol.ts'
import { line } from './answer-request.ts'
import type { SignerConfiguration, SignerKinds } from './decode-sign-request.ts'

/** What both functions of a signer get. */
export interface SignerContext {
  /** The `config` map of the user's auth-provider. It may hold secrets; no error shows those with a name like `pin`. */
  readonly configuration: SignerConfiguration
  /** Tells the person what to do now, such as to touch the device. Nothing is asked. */
  readonly prompt: (text: string) => Promise<void>
  /** Asks the person at the terminal, for example for a PIN; fails at once where there is none. */
  readonly ask: Prompt
  /** Aborted by SIGINT, SIGTERM and SIGHUP, and when nobody waits for the answer any more. */
  readonly signal: AbortSignal
}

/** What is to be signed. */
export interface SignContext extends SignerContext {
  /** How: a signature scheme of TLS 1.3. RSA is always PSS, with a salt as long as the hash. */
  readonly scheme: SignatureScheme
  /** The digest by the scheme's hash. Ed25519 hashes by itself: there it is the message. */
  readonly digest: Uint8Array
  /** What the digest is of, for keys that hash by themselves. Only our own client tells it; Ed25519 always has it. */
  readonly message: Uint8Array | undefined
}

/** A signer: where its certificate is, and how it signs. */
export interface SignerHandlers {
  /** @returns The certificate, DER or PEM. */
  readonly certificate: (
    context: SignerContext,
  ) => Uint8Array | string | Promise<Uint8Array | string>
  /** @returns The signature; that of an elliptic curve in DER (see `ecdsaToDer`). */
  readonly sign: (context: SignContext) => Uint8Array | Promise<Uint8Array>
}

/**
 * Makes a function that asks the person at the terminal, for a program around `listenSigner`.
 *
 * @param prompting `signal` ends a question that nobody has answered; `interrupt` is called for Ctrl-C.
 */
export function terminalPrompt(prompting: Pick<Prompting, 'signal' | 'interrupt'>): Prompt {
  // Loaded by the first question: most signatures need none.
  let loaded: Promise<Prompt> | undefined
  return async (question, options) => {
    loaded ??= import('../../plugin/kit/prompt.ts').then(({ makePrompt }) =>
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
