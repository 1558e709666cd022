import { X509Certificate } from 'node:crypto'
import {
  SignerCertificateError,
  SignerFailedError,
  SignerResponseInvalidError,
  SignRequestError,
} from '../../errors/index.ts'
import { describeFailure } from '../../plugin/kit/describe-failure.ts'
import { programName } from '../../plugin/kit/plugin-process.ts'
import type { Prompt, Prompting } from '../../plugin/kit/prompt.ts'
import { scrub, showControlCharacters } from '../../secret/scrub.ts'
import { Secret } from '../../secret/secret.ts'
import {
  SIGNER_API_VERSION,
  SIGNER_ERROR_KIND,
  SIGNER_KINDS,
  USER_PROMPT_KIND,
} from '../signer-protocol.ts'
import type {
  AskedOfSigner,
  AskedSignature,
  SignerConfiguration,
  SignerKinds,
} from './decode-sign-request.ts'
import { isEcdsaDer } from './ecdsa-der.ts'
import type { SignerContext, SignerHandlers } from './handlers.ts'

/** A signature is never longer; what is, is something else. */
const LONGEST_SIGNATURE = 4096

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

interface AnswerTools extends Omit<SignerContext, 'configuration'> {
  /** Whether the client reads a whole chain as PEM. The specification has one certificate as DER. */
  readonly takesChain: boolean
}

/**
 * Lets the author's function answer one request, and writes the answer: one line of JSON, in the words of the request.
 *
 * What the function gives is checked first, so that a mistake shows at the author's desk.
 *
 * @throws {SignRequestError} For PKCS#1 v1.5.
 * @throws {SignerResponseInvalidError} For something that is no signature.
 * @throws {SignerCertificateError} For something that is no certificate.
 */
export async function answerRequest(
  asked: AskedOfSigner,
  { certificate, sign }: SignerHandlers,
  { takesChain, ...tools }: AnswerTools,
): Promise<string> {
  const { kinds, configuration } = asked
  if (asked.is === 'certificate') {
    const chain = readChain(await certificate({ configuration, ...tools }))
    const bytes = takesChain && chain.length > 1 ? Buffer.from(chain.join('')) : chain[0]?.raw
    return line({ kind: kinds.certificateResponse, certificate: base64(bytes ?? Buffer.alloc(0)) })
  }
  const { scheme, digest, message } = asked
  const signature = await sign({ configuration, scheme, digest, message, ...tools })
  checkSignature(signature)
  if (!isFor(scheme, signature)) throw await explainOther(asked, certificate, tools)
  return line({ kind: kinds.signResponse, signature: base64(signature) })
}

/** One line of the protocol. */
export function line(fields: Readonly<Record<string, string>>): string {
  return `${JSON.stringify({ apiVersion: SIGNER_API_VERSION, ...fields })}\n`
}

/** All certificates of PEM, or the one of DER. */
function readChain(given: unknown): X509Certificate[] {
  const hint = 'Return a Buffer with DER, or the text of a PEM file, from certificate().'
  if (typeof given !== 'string' && !(given instanceof Uint8Array)) {
    throw new SignerCertificateError(programName(), 'returned no certificate, DER or PEM', { hint })
  }
  try {
    const text = typeof given === 'string' ? given : Buffer.from(given).toString('latin1')
    const blocks = text.match(PEM) ?? [given]
    return blocks.map((block) => new X509Certificate(block))
  } catch (cause) {
    const what = 'returned a certificate that is none'
    throw new SignerCertificateError(programName(), what, { cause, hint })
  }
}

function wrong(what: string, hint: string): SignerResponseInvalidError {
  return new SignerResponseInvalidError(programName(), what, { hint })
}

function checkSignature(signature: unknown): asserts signature is Uint8Array {
  if (!(signature instanceof Uint8Array) || signature.length === 0) {
    throw wrong('returned no signature', 'Return a Buffer with the signature from sign().')
  }
  if (signature.length > LONGEST_SIGNATURE) {
    throw wrong('returned more than a signature', 'Return only the bytes of the signature.')
  }
}

const ED25519_BYTES = 64

function isFor(scheme: AskedSignature['scheme'], signature: Uint8Array): boolean {
  if (scheme === 'ed25519') return signature.length === ED25519_BYTES
  return !scheme.startsWith('ecdsa') || isEcdsaDer(signature)
}

/** Only now, when something is wrong, the certificate is asked for: it may take a device and a person. */
async function explainOther(
  { scheme, configuration }: AskedSignature,
  certificate: SignerHandlers['certificate'],
  tools: Omit<AnswerTools, 'takesChain'>,
): Promise<Error> {
  const [leaf] = await Promise.resolve(certificate({ configuration, ...tools }))
    .then(readChain)
    .catch(() => [])
  if (leaf?.publicKey.asymmetricKeyType === 'rsa') {
    return new SignRequestError(
      'signerOpts',
      'asks for PKCS#1 v1.5, as crypto.Hash options do for an RSA key, and TLS 1.3 does not allow it',
      { hint: 'Connect to a server that speaks TLS 1.3: then clients ask for RSASSA-PSS.' },
    )
  }
  return scheme === 'ed25519'
    ? wrong(
        'returned an Ed25519 signature that is not 64 bytes long',
        'Return the signature as it is.',
      )
    : wrong(
        'returned an ECDSA signature that is not in DER',
        'Convert r || s with ecdsaToDer() of kubecred/signer.',
      )
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

/** Says in the protocol why there is no answer: the message, then what to do where the error knows it. */
export function refusalLine(thrown: unknown, configuration: SignerConfiguration = {}): string {
  const words = describeFailure(thrown, { debug: false, what: 'signer' })
  // The client says who failed; the class of the error is for the author.
  const message = hideConfiguration(words, configuration).replace(/^[A-Za-z0-9_$]*: /, '')
  return line({ kind: SIGNER_ERROR_KIND, message: message.trim() })
}

const MARK = '[secret]'
const PRIVATE = /pin|puk|pass|secret|credential|^token$/i
/** Where something is, and not the thing itself. */
const PLACE = /(?:env|file|path|source)$/i
/** RFC 7512 lets a URI carry a PIN. */
const PIN_IN_URI = /(pin-value=)([^&;#\s]*)/gi
/** Shorter ones are hidden only where they stand alone: "12" is a part of too many words. */
const SHORTEST_ANYWHERE = 6

/**
 * Takes the private values of a configuration out of a text that is about to be shown: what is called PIN, password
 * or secret, and PINs inside of URIs. A library may have quoted them.
 */
export function hideConfiguration(text: string, configuration: SignerConfiguration): string {
  const values = Object.entries(configuration).flatMap(([name, value]) => [
    ...(PRIVATE.test(name) && !PLACE.test(name) ? [value] : []),
    ...pinsInUri(value),
  ])
  let shown = scrub(
    text,
    values.map((value) => new Secret(value)),
  ).replace(PIN_IN_URI, `$1${MARK}`)
  for (const value of values.filter(({ length }) => length > 1 && length < SHORTEST_ANYWHERE)) {
    shown = shown.replace(standingAlone(value), MARK)
  }
  return shown
}

function pinsInUri(value: string): string[] {
  return [...value.matchAll(PIN_IN_URI)].flatMap(([, , pin = '']) => [pin, decoded(pin)])
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function standingAlone(value: string): RegExp {
  const literal = value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`(?<![\\p{L}\\p{N}_])${literal}(?![\\p{L}\\p{N}_])`, 'gu')
}

/** No request is longer: a digest, a message and the configuration of one user. */
const LONGEST_LINE = 1024 * 1024

/** Cuts a stream of bytes into lines of text. */
export class LineSplitter {
  #pieces: Buffer[] = []
  #length = 0

  /**
   * Takes the next bytes and gives the lines that they complete, without their ends. Empty ones are left out.
   *
   * @throws {RangeError} When a line has no end within a mebibyte.
   */
  push(chunk: Buffer): string[] {
    const lines: string[] = []
    let from = 0
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
      this.#keep(chunk.subarray(from, end))
      lines.push(this.rest())
      from = end + 1
    }
    this.#keep(chunk.subarray(from))
    return lines.filter((text) => text.trim() !== '')
  }

  /** What came after the last line. */
  rest(): string {
    const text = Buffer.concat(this.#pieces).toString('utf8')
    this.#pieces = []
    this.#length = 0
    return text
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length
    if (this.#length > LONGEST_LINE) throw new RangeError('a line is longer than a mebibyte')
    this.#pieces.push(piece)
  }
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
