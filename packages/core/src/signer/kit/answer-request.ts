import { X509Certificate } from 'node:crypto'
import {
  SignerCertificateError,
  SignerFailedError,
  SignerResponseInvalidError,
  SignRequestError,
} from '../../errors/index.ts'
import { describeFailure } from '../../plugin/kit/describe-failure.ts'
import { programName } from '../../plugin/kit/plugin-process.ts'
import type { Prompt, PromptSettings } from '../../plugin/kit/prompt.ts'
import { scrub, showControlCharacters } from '../../secret/scrub.ts'
import { Secret } from '../../secret/secret.ts'
import {
  SIGNER_API_VERSION,
  SIGNER_ERROR_KIND,
  SIGNER_KINDS,
  USER_PROMPT_KIND,
} from '../signer-protocol.ts'
import type {
  SignerConfiguration,
  SignerKinds,
  SignerRequest,
  SignRequest,
} from './decode-sign-request.ts'
import { isEcdsaDer } from './ecdsa-der.ts'
import type { SignerContext, SignerHandlers } from './handlers.ts'

/** Longer than any signature. */
const MAX_SIGNATURE_BYTES = 4096

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

interface AnswerTools extends Omit<SignerContext, 'configuration'> {
  /** Whether the client accepts a chain in PEM. The specification has one certificate in DER. */
  readonly takesChain: boolean
}

/**
 * Calls the handler for one request and returns its answer as one line of JSON, in the protocol of the request.
 *
 * The result of the handler is checked first, so that the author of a signer sees mistakes.
 *
 * @throws {SignRequestError} `ERR_SIGN_REQUEST` for PKCS#1 v1.5.
 * @throws {SignerResponseInvalidError} `ERR_SIGNER_RESPONSE_INVALID` if the result is not a signature.
 * @throws {SignerCertificateError} `ERR_SIGNER_CERTIFICATE` if the result is not a certificate.
 */
export async function answerRequest(
  request: SignerRequest,
  { certificate, sign }: SignerHandlers,
  { takesChain, ...tools }: AnswerTools,
): Promise<string> {
  const { kinds, configuration } = request
  if (request.is === 'certificate') {
    const chain = readChain(await certificate({ configuration, ...tools }))
    const bytes = takesChain && chain.length > 1 ? Buffer.from(chain.join('')) : chain[0]?.raw
    return encodeLine({
      kind: kinds.certificateResponse,
      certificate: base64(bytes ?? Buffer.alloc(0)),
    })
  }
  const { scheme, digest, message } = request
  const signature = await sign({ configuration, scheme, digest, message, ...tools })
  checkSignature(signature)
  if (!hasFormOf(scheme, signature)) throw await explainMismatch(request, certificate, tools)
  return encodeLine({ kind: kinds.signResponse, signature: base64(signature) })
}

/** Encodes one line of the protocol. */
export function encodeLine(fields: Readonly<Record<string, string>>): string {
  return `${JSON.stringify({ apiVersion: SIGNER_API_VERSION, ...fields })}\n`
}

/** Reads all certificates of PEM, or the one of DER. */
function readChain(value: unknown): X509Certificate[] {
  const hint = 'Return a Buffer with DER, or the text of a PEM file, from certificate().'
  if (typeof value !== 'string' && !(value instanceof Uint8Array)) {
    throw new SignerCertificateError(programName(), 'returned no certificate in DER or PEM', {
      hint,
    })
  }
  try {
    const text = typeof value === 'string' ? value : Buffer.from(value).toString('latin1')
    const blocks = text.match(PEM) ?? [value]
    return blocks.map((block) => new X509Certificate(block))
  } catch (cause) {
    const what = 'returned something that is not a certificate'
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
  if (signature.length > MAX_SIGNATURE_BYTES) {
    throw wrong(
      `returned a signature of more than ${MAX_SIGNATURE_BYTES} bytes`,
      'Return only the bytes of the signature.',
    )
  }
}

const ED25519_BYTES = 64

function hasFormOf(scheme: SignRequest['scheme'], signature: Uint8Array): boolean {
  if (scheme === 'ed25519') return signature.length === ED25519_BYTES
  return !scheme.startsWith('ecdsa') || isEcdsaDer(signature)
}

/** Gets the certificate only when something is wrong: it may need a device and the user. */
async function explainMismatch(
  { scheme, configuration }: SignRequest,
  certificate: SignerHandlers['certificate'],
  tools: Omit<AnswerTools, 'takesChain'>,
): Promise<Error> {
  const [leaf] = await Promise.resolve(certificate({ configuration, ...tools }))
    .then(readChain)
    .catch(() => [])
  if (leaf?.publicKey.asymmetricKeyType === 'rsa') {
    return new SignRequestError(
      'signerOpts',
      'asks for PKCS#1 v1.5 (crypto.Hash options with an RSA key), and TLS 1.3 does not allow it',
      { hint: 'Connect to a server with TLS 1.3, for which clients ask for RSASSA-PSS.' },
    )
  }
  return scheme === 'ed25519'
    ? wrong('returned an Ed25519 signature that is not 64 bytes long', 'Return the raw signature.')
    : wrong(
        'returned an ECDSA signature that is not in DER',
        'Convert r || s with ecdsaToDer() of kubecred/signer.',
      )
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

/** Encodes an error response: the message, then the hint if the error has one. */
export function errorLine(thrown: unknown, configuration: SignerConfiguration = {}): string {
  const description = describeFailure(thrown, { debug: false, what: 'signer' })
  // The client names the signer; the class of the error is for its author.
  const message = hideConfiguration(description, configuration).replace(/^[A-Za-z0-9_$]*: /, '')
  return encodeLine({ kind: SIGNER_ERROR_KIND, message: message.trim() })
}

const MARK = '[secret]'
const PRIVATE = /pin|puk|pass|secret|credential|^token$/i
/** Parameters that say where a secret is. */
const LOCATION_NAME = /(?:env|file|path|source)$/i
/** RFC 7512 lets a URI carry a PIN. */
const PIN_IN_URI = /(pin-value=)([^&;#\s]*)/gi
/** Shorter values are hidden only as separate words: "12" is part of too many others. */
const MIN_HIDDEN_ANYWHERE = 6

/**
 * Removes the secrets of a configuration from a text: values named like a PIN, password or secret, and PINs in URIs. A
 * library may have quoted them in its error.
 */
export function hideConfiguration(text: string, configuration: SignerConfiguration): string {
  const values = Object.entries(configuration).flatMap(([name, value]) => [
    ...(PRIVATE.test(name) && !LOCATION_NAME.test(name) ? [value] : []),
    ...pinsInUri(value),
  ])
  let shown = scrub(
    text,
    values.map((value) => new Secret(value)),
  ).replace(PIN_IN_URI, `$1${MARK}`)
  for (const value of values.filter(({ length }) => length > 1 && length < MIN_HIDDEN_ANYWHERE)) {
    shown = shown.replace(asSeparateWord(value), MARK)
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

function asSeparateWord(value: string): RegExp {
  const literal = value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`(?<![\\p{L}\\p{N}_])${literal}(?![\\p{L}\\p{N}_])`, 'gu')
}

/** Longer than any request, which has a digest, a message and the configuration of one user. */
const MAX_LINE_BYTES = 1024 * 1024

/** Splits a stream of bytes into lines of text. */
export class LineSplitter {
  #pieces: Buffer[] = []
  #length = 0

  /**
   * Returns the lines that these bytes complete, without line breaks and without empty lines.
   *
   * @throws {RangeError} If a line is longer than a mebibyte.
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

  /** Returns the text after the last line break. */
  rest(): string {
    const text = Buffer.concat(this.#pieces).toString('utf8')
    this.#pieces = []
    this.#length = 0
    return text
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length
    if (this.#length > MAX_LINE_BYTES) throw new RangeError('a line is longer than a mebibyte')
    this.#pieces.push(piece)
  }
}

/**
 * Returns a function that asks questions at the terminal, for a program that calls `listenSigner`.
 *
 * The function rejects with `SignerFailedError` (`ERR_SIGNER_FAILED`) if there is no terminal.
 *
 * @experimental
 *
 * @param settings `signal` ends an unanswered question; `interrupt` is called for Ctrl-C.
 *
 * @example
 * const abort = new AbortController()
 * const ask = terminalPrompt({ signal: abort.signal, interrupt: () => abort.abort() })
 * const pin = await ask('PIN: ', { secret: true })
 */
export function terminalPrompt(settings: Pick<PromptSettings, 'signal' | 'interrupt'>): Prompt {
  // Loaded with the first question: most signatures need none.
  let loaded: Promise<Prompt> | undefined
  return async (question, options) => {
    loaded ??= import('../../plugin/kit/prompt.ts').then(({ makePrompt }) =>
      makePrompt({ ...settings, interactive: true, makeError: noTerminalError }),
    )
    return (await loaded)(question, options)
  }
}

function noTerminalError(reason: string): SignerFailedError {
  return new SignerFailedError(programName(), `cannot prompt: ${reason}`, {
    hint: 'Run the client in a terminal, or configure the signer so that it need not prompt.',
  })
}

/** How to reach the user. */
export interface PromptChannel {
  /** Writes one line of the protocol to the client. */
  readonly write: (text: string) => Promise<void>
  /** Whether the client reads more than one line. Other clients take the first line for the answer. */
  readonly readsLines: boolean
}

/** Whether the client is kubecred, which reads lines before the answer and accepts a chain. */
export function isKubecredClient(
  kinds: SignerKinds,
  { readsLines }: Pick<PromptChannel, 'readsLines'>,
): boolean {
  return readsLines && kinds === SIGNER_KINDS.specification
}

/**
 * Returns the function that shows instructions to the user: through the client if it reads lines, otherwise on standard
 * error.
 */
export function makePromptWriter(
  kinds: SignerKinds,
  channel: PromptChannel,
): SignerContext['notify'] {
  return async (text) => {
    const shown = showControlCharacters(text).replace(/\s+/g, ' ').trim()
    if (isKubecredClient(kinds, channel))
      await channel.write(encodeLine({ kind: USER_PROMPT_KIND, prompt: shown }))
    else process.stderr.write(`${shown}\n`)
  }
}
