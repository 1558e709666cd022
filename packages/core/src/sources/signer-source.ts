import {
  type SignatureScheme,
  type SigningKey,
  type SigningRequest,
  SUPPORTED_KEYS,
} from '../credential/signing-key.ts'
import {
  type CredentialError,
  isCredentialError,
  SignatureInvalidError,
  SignerCertificateError,
} from '../errors/index.ts'
import { encodeBase64 } from '../formats/base64.ts'
import { formatRfc3339 } from '../formats/rfc3339.ts'
import { decideInteractivity } from '../kubeconfig/exec-config.ts'
import { type SignerConfig, signerName } from '../kubeconfig/external-signer-config.ts'
import { quoteName } from '../kubeconfig/problem.ts'
import type { LifecyclePolicy } from '../lifecycle/policy.ts'
import { forSigners, isPinVariable } from '../plugin/plugin-environment.ts'
import type { PluginPolicy } from '../plugin/plugin-policy.ts'
import type { Clock } from '../ports/clock.ts'
import type { ChainFacts, Crypto } from '../ports/crypto.ts'
import type { Programs, RunRequest } from '../ports/programs.ts'
import type { SerialQueue, SignerChannels } from '../ports/signer-channel.ts'
import type { Terminal } from '../ports/terminal.ts'
import {
  encodeCertificateRequest,
  encodeSignRequest,
  SIGNER_FD_VARIABLE,
  SIGNER_MESSAGE_VARIABLE,
  SIGNER_REQUEST_VARIABLE,
  type SignerPayload,
  type SignerProtocol,
} from '../signer/signer-protocol.ts'
import { findAllowedProgram } from './find-allowed-program.ts'
import { runError, runFacts } from './plugin-run-errors.ts'
import { type DeviceInit, type DeviceRequest, SignerDevice } from './signer-device.ts'
import { oneLine, type SignerScrubber, signerScrubber } from './signer-secrets.ts'
import type { AcquireContext, Acquired, Report, Source } from './source.ts'
import { describePairProblem } from './static-source.ts'

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
  readonly turns: SerialQueue
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
  let tell: AcquireContext['report'] = () => {}
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
        : new SignatureInvalidError(
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
          [SIGNER_MESSAGE_VARIABLE]: encodeBase64(message),
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
    wish: SignerPayload,
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

/** The descriptor that further requests come from: the first one after standard error. */
const REQUESTS_FD = '3'

interface OpenerInit {
  readonly config: SignerConfig
  readonly policy: PluginPolicy
  readonly passEnv?: readonly string[]
  readonly refuseWritable?: boolean
}

interface OpenerPorts {
  readonly programs: Programs
  readonly channels: SignerChannels
  readonly hostEnv: () => Readonly<Record<string, string | undefined>>
}

/** Makes the function that gets a signer to talk: starts its program, or connects to its socket. */
function signerOpener(
  { config, policy, passEnv, refuseWritable }: OpenerInit,
  { programs, channels, hostEnv }: OpenerPorts,
  { scrub, report }: { readonly scrub: SignerScrubber; readonly report: AcquireContext['report'] },
): DeviceInit['open'] {
  const { at } = config
  if (at.kind !== 'program') {
    return async (request, { signal }, listener) => {
      const channel = await channels.dial(at, listener, signal)
      channel.send(request.line)
      return channel
    }
  }
  const { command } = at
  return async (request, { signal, interactive }, listener) => {
    const found = await findAllowedProgram(
      {
        command,
        policy,
        role: 'signer',
        installHint: `Install the signer, or give its full path in pathExec of the kubeconfig.`,
        ...(refuseWritable && { refuseWritable }),
      },
      { programs },
      report,
    )
    const start = {
      command,
      path: found.path,
      // Over the host's: nobody can shadow the request.
      env: {
        ...forSigners(hostEnv(), passEnv),
        ...request.variables,
        [SIGNER_FD_VARIABLE]: REQUESTS_FD,
      },
      interactive,
      onStart: () => report({ type: 'plugin-started', isInteractive: interactive }),
      onStderr: (text: string) => report({ type: 'plugin-stderr', text: scrub(text) }),
      signal,
    }
    const started = await channels.start(start, {
      onOutput: (bytes) => listener.onOutput(bytes),
      onEnd(end) {
        const { exitStatus, tookMs } = end
        report({ type: 'plugin-ended', process: { isStarted: true, exitStatus, tookMs } })
        listener.onEnd(end)
      },
    })
    if (!('ended' in started)) return started
    signal.throwIfAborted()
    const notRun: RunRequest = { ...start, args: [], timeoutMs: 0, stdoutLimit: 0 }
    throw runError(started, notRun, { ...runFacts(started, []), role: 'signer' })
  }
}

interface ChainCheck {
  /** The program or socket, for messages. */
  readonly signer: string
  readonly protocol: SignerProtocol
  readonly crypto: Crypto
  readonly now: number
}

/**
 * Reads the certificate that a signer gave, and leaves only what its key can sign with.
 *
 * @throws {SignerCertificateError} When it cannot be used, or not any more.
 */
function readSignerChain(
  bytes: Uint8Array,
  { signer, protocol, crypto, now }: ChainCheck,
): ChainFacts {
  const read = crypto.readChain(bytes)
  if (typeof read === 'string') {
    throw new SignerCertificateError(
      signer,
      `gave a certificate that cannot be used: ${describePairProblem(read)}`,
      { hint: 'Let the signer answer with base64 of one certificate in DER, or of a PEM chain.' },
    )
  }
  if (read.notAfter <= now) {
    throw new SignerCertificateError(
      signer,
      `gave a certificate that expired at ${formatRfc3339(read.notAfter)}`,
      {
        hint: 'Put a new certificate into the device; if the time looks right, check the clock of this machine.',
      },
    )
  }
  // The plugin of 2020 makes no other signatures.
  const isRsaOnly = protocol === 'reference2020'
  const schemes = read.schemes.filter((scheme) => !isRsaOnly || scheme.startsWith('rsa_pss'))
  if (schemes.length === 0) {
    const isOurs = read.schemes.length === 0
    throw new SignerCertificateError(
      signer,
      isOurs
        ? `gave a certificate whose key kubecred cannot use: kubecred does not support ${read.keyKind} keys`
        : `gave a certificate with a key other than RSA (${read.keyKind}), and signers of 2020 sign with RSA only`,
      { hint: `Use a key of another kind: ${isOurs ? SUPPORTED_KEYS : 'RSA'}.` },
    )
  }
  return { ...read, schemes }
}
