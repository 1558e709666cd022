import { type CredentialError, isCredentialError, SignatureWrongError } from '../errors/index.ts'
import { signerName } from '../kubeconfig/external-signer-config.ts'
import { quoteName } from '../kubeconfig/quote-name.ts'
import type { LifecyclePolicy } from '../lifecycle/policy.ts'
import type { Clock } from '../ports/clock.ts'
import type { Crypto } from '../ports/crypto.ts'
import type { Turns } from '../ports/signer-channel.ts'
import type { Terminal } from '../ports/terminal.ts'
import { encodeBytes } from '../protocol/base64.ts'
import type { Acquired } from '../protocol/credential.ts'
import { decideInteractivity } from '../protocol/interactive-mode.ts'
import { isPinVariable } from '../protocol/private-variables.ts'
import type { SignerWish } from '../protocol/signer-answer.ts'
import { encodeCertificateRequest, encodeSignRequest } from '../protocol/signer-request.ts'
import { SIGNER_MESSAGE_VARIABLE, SIGNER_REQUEST_VARIABLE } from '../protocol/signer-wire.ts'
import type { SignatureScheme, SigningKey, SigningRequest } from '../protocol/signing-key.ts'
import { type DeviceInit, type DeviceRequest, SignerDevice } from '../signer/signer-device.ts'
import { oneLine, type SignerScrubber, signerScrubber } from '../signer/signer-secrets.ts'
import { readSignerChain } from './signer-chain.ts'
import { type OpenerInit, type OpenerPorts, signerOpener } from './signer-opener.ts'
import type { Ask, Report, Source } from './source.ts'

/** One signer with everything that decides how it is asked. */
export interface ExternalSigner extends OpenerInit {
  readonly limits: DeviceInit['limits']
  readonly stdinUnavailable?: string
}

export interface ExternalSignerPorts extends OpenerPorts {
  readonly terminal: Terminal
  readonly crypto: Crypto
  readonly clock: Clock
  /** Shared by all who use the same device. */
  readonly turns: Turns
  readonly policy: LifecyclePolicy
}

/** What a signer may show while it works on one request; the rest is noise. */
const MOST_PROMPTS = 20
const LONGEST_PROMPT = 500

/**
 * An external signer as a source: its certificate, with a key that asks it for every signature.
 *
 * The signer ends with the keeper: the signal of the first run is the keeper's life.
 *
 * @param id Equal for what is the same signer.
 */
export function externalSignerSource(
  signer: ExternalSigner,
  ports: ExternalSignerPorts,
  id: string,
): Source {
  const { config } = signer
  const { protocol } = config
  const name = signerName(config)
  const shownName = config.at.kind === 'program' ? quoteName(name) : `at ${quoteName(name)}`
  const scrub = signerScrubber(config.parameters, pinsOf(ports.hostEnv()))
  let tell: Ask['report'] = () => {}
  const report = (event: Report): void => tell(event)
  const device = new SignerDevice({
    ...ports,
    open: signerOpener(signer, ports, { scrub, report }),
    limits: signer.limits,
    scrub,
    warn: (message) => report({ type: 'warning', message }),
  })
  let isFollowed = false

  return {
    label: { kind: 'signer', name },
    lifecycle: { mayRunAhead: true, mayAsk: true },
    async acquire(ask) {
      tell = ask.report
      if (!isFollowed) ask.signal.addEventListener('abort', () => device.close(), { once: true })
      isFollowed = true
      const bytes = await request(
        'certificate',
        { [SIGNER_REQUEST_VARIABLE]: encodeCertificateRequest(config) },
        encodeCertificateRequest(config),
        { signal: ask.signal, early: ask.reason === 'ahead' },
      )
      return read(bytes)
    },
  }

  function read(bytes: Uint8Array): Acquired {
    const { crypto, clock } = ports
    const now = clock.now()
    const { schemes, ...chain } = readSignerChain(bytes, {
      signer: shownName,
      protocol,
      crypto,
      now,
    })
    const certificate = {
      ...chain,
      signingKey: signingKey(schemes, chain.chain),
      signingKeyId: id,
    }
    return { credential: { certificate }, expiresAt: chain.notAfter }
  }

  function signingKey(able: readonly SignatureScheme[], chain: string): SigningKey {
    return {
      choose: async (schemes) => able.find((scheme) => schemes.includes(scheme)),
      sign: (wanted) => sign(wanted, chain),
    }
  }

  /** Here already, though TLS checks it too: a device whose key is another one needs a pause, not another touch. */
  function check(wanted: Omit<SigningRequest, 'signal'>, chain: string) {
    return (signature: Uint8Array): CredentialError | undefined =>
      ports.crypto.isSignature(chain, wanted, signature)
        ? undefined
        : new SignatureWrongError(
            `the signer ${shownName} signed with another key than that of its certificate`,
          )
  }

  async function sign({ signal, ...wanted }: SigningRequest, chain: string): Promise<Uint8Array> {
    const { scheme, message } = wanted
    const { clock } = ports
    const startedAt = clock.now()
    const took = (): number => Math.max(0, clock.now() - startedAt)
    try {
      const signature = await request(
        'signature',
        {
          [SIGNER_REQUEST_VARIABLE]: encodeSignRequest(config, wanted),
          [SIGNER_MESSAGE_VARIABLE]: encodeBytes(message),
        },
        encodeSignRequest(config, wanted, true),
        { signal, early: false, check: check(wanted, chain) },
      )
      report({ type: 'signed', scheme, tookMs: took() })
      return signature
    } catch (error) {
      const known = isCredentialError(error) ? error : undefined
      report({ type: 'sign-failed', scheme, tookMs: took(), error: known })
      throw error
    }
  }

  async function request(
    wish: SignerWish,
    variables: DeviceRequest['variables'],
    line: string,
    { signal, early, check: checkAnswer }: AskInit,
  ): Promise<Uint8Array> {
    const prompts = new Prompts(report, scrub)
    const decision = decideInteractivity('IfAvailable', {
      isTerminal: config.at.kind === 'program' && ports.terminal.isTerminal(),
      stdinUnavailable: signer.stdinUnavailable,
      early,
    })
    try {
      return await device.ask(
        { asked: { wish, protocol, signer: shownName }, variables, line, check: checkAnswer },
        {
          signal,
          interactive: 'interactive' in decision && decision.interactive,
          onPrompt: (text) => prompts.show(text),
        },
      )
    } finally {
      prompts.end()
    }
  }
}

interface AskInit extends Pick<DeviceRequest, 'check'> {
  readonly signal: AbortSignal
  readonly early: boolean
}

/** The prompts of one request, cleaned and counted. */
class Prompts {
  readonly #report: (event: Report) => void
  readonly #scrub: SignerScrubber
  #last = ''
  #count = 0

  constructor(report: (event: Report) => void, scrub: SignerScrubber) {
    this.#report = report
    this.#scrub = scrub
  }

  show(prompt: string): void {
    const text = oneLine(this.#scrub(prompt), LONGEST_PROMPT)
    if (text === '' || text === this.#last || this.#count >= MOST_PROMPTS) return
    this.#last = text
    this.#count += 1
    this.#report({ type: 'user-prompt', text })
  }

  end(): void {
    if (this.#count > 0) this.#report({ type: 'prompt-ended' })
  }
}

function pinsOf(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value && isPinVariable(name) ? [value] : [],
  )
}
