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
import { isPinVariable, signerEnvironment } from '../plugin/plugin-environment.ts'
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

/** A signer, with everything that influences how it is called. */
export interface ExternalSigner extends OpenerInit {
  readonly limits: DeviceInit['limits']
  readonly stdinUnavailable?: string
}

/** The ports of an external signer. */
export interface ExternalSignerPorts extends OpenerPorts {
  readonly terminal: Terminal
  readonly crypto: Crypto
  readonly clock: Clock
  /** Shared by all users of the same device. */
  readonly turns: SerialQueue
  readonly policy: LifecyclePolicy
}

/** How many prompts of one request are shown, and how long they can be. */
const MAX_PROMPTS = 20
const MAX_PROMPT_LENGTH = 500

/**
 * Returns a source for an external signer: its certificate, with a signing key that calls it for every signature.
 *
 * The signer ends with the keeper, whose lifetime is the signal of the first run.
 *
 * @param id Identifies the signer: equal for equal configurations.
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
  let sink: AcquireContext['report'] = () => {}
  const report = (event: Report): void => sink(event)
  const device = new SignerDevice({
    ...ports,
    open: signerOpener(signer, ports, { scrub, report }),
    limits: signer.limits,
    scrub,
    warn: (message) => report({ type: 'warning', message }),
  })
  let endsWithKeeper = false

  return {
    label: { kind: 'signer', name },
    lifecycle: { mayRunAhead: true, mayPrompt: true },
    async acquire(ask) {
      sink = ask.report
      if (!endsWithKeeper)
        ask.signal.addEventListener('abort', () => device.close(), { once: true })
      endsWithKeeper = true
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

  /** TLS checks the signature too. Checked here, a wrong key causes a pause instead of another touch of the device. */
  function check(wanted: Omit<SigningRequest, 'signal'>, chain: string) {
    return (signature: Uint8Array): CredentialError | undefined =>
      ports.crypto.isSignature(chain, wanted, signature)
        ? undefined
        : new SignatureInvalidError(
            `the signer ${shownName} signed with a key that does not match its certificate`,
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
    payload: SignerPayload,
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
        { expected: { payload, protocol, signer: shownName }, variables, line, check: checkAnswer },
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

/** Reports the prompts of one request, scrubbed and limited in number. */
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
    const text = oneLine(this.#scrub(prompt), MAX_PROMPT_LENGTH)
    if (text === '' || text === this.#last || this.#count >= MAX_PROMPTS) return
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

/** The file descriptor for further requests: the first one after standard error. */
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

/** Returns the function that opens a channel to a signer: starts its program, or connects to its socket. */
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
        installHint: 'Install the signer, or give its full path in pathExec of the kubeconfig.',
        ...(refuseWritable && { refuseWritable }),
      },
      { programs },
      report,
    )
    const start = {
      command,
      path: found.path,
      // After the host's, which cannot override the request.
      env: {
        ...signerEnvironment(hostEnv(), passEnv),
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
 * Reads the certificate of a signer, with the signature schemes that both its key and the protocol support.
 *
 * @throws {SignerCertificateError} `ERR_SIGNER_CERTIFICATE` if it cannot be used or has expired.
 */
function readSignerChain(
  bytes: Uint8Array,
  { signer, protocol, crypto, now }: ChainCheck,
): ChainFacts {
  const read = crypto.readChain(bytes)
  if (typeof read === 'string') {
    throw new SignerCertificateError(
      signer,
      `returned a certificate that cannot be used: ${describePairProblem(read)}`,
      { hint: 'Make the signer return base64 of one DER certificate or of a PEM chain.' },
    )
  }
  if (read.notAfter <= now) {
    throw new SignerCertificateError(
      signer,
      `returned a certificate that expired at ${formatRfc3339(read.notAfter)}`,
      {
        hint: 'Install a new certificate on the device, or check the clock of this machine.',
      },
    )
  }
  // The 2020 plugin supports RSA-PSS only.
  const isRsaOnly = protocol === 'reference2020'
  const schemes = read.schemes.filter((scheme) => !isRsaOnly || scheme.startsWith('rsa_pss'))
  if (schemes.length === 0) {
    const isUnsupported = read.schemes.length === 0
    throw new SignerCertificateError(
      signer,
      isUnsupported
        ? `returned a certificate that cannot be used: kubecred does not support ${read.keyKind} keys`
        : `returned a certificate whose key is not RSA (${read.keyKind}), but the signer protocol of 2020 supports RSA only`,
      { hint: `Use another type of key: ${isUnsupported ? SUPPORTED_KEYS : 'RSA'}.` },
    )
  }
  return { ...read, schemes }
}
