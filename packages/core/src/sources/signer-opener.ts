import type { SignerConfig } from '../kubeconfig/external-signer-config.ts'
import type { Programs, RunRequest } from '../ports/programs.ts'
import type { SignerChannels } from '../ports/signer-channel.ts'
import type { PluginPolicy } from '../protocol/plugin-policy.ts'
import { forSigners } from '../protocol/private-variables.ts'
import { SIGNER_FD_VARIABLE } from '../protocol/signer-wire.ts'
import type { DeviceInit } from '../signer/signer-device.ts'
import type { SignerScrubber } from '../signer/signer-secrets.ts'
import { locateProgram } from './locate-program.ts'
import { runError, runFacts } from './run-errors.ts'
import type { Ask } from './source.ts'

/** The descriptor that further requests come from: the first one after standard error. */
const REQUESTS_FD = '3'

export interface OpenerInit {
  readonly config: SignerConfig
  readonly policy: PluginPolicy
  readonly passEnv?: readonly string[]
  readonly refuseWritable?: boolean
}

export interface OpenerPorts {
  readonly programs: Programs
  readonly channels: SignerChannels
  readonly hostEnv: () => Readonly<Record<string, string | undefined>>
}

/** Makes the function that gets a signer to talk: starts its program, or connects to its socket. */
export function signerOpener(
  { config, policy, passEnv, refuseWritable }: OpenerInit,
  { programs, channels, hostEnv }: OpenerPorts,
  { scrub, report }: { readonly scrub: SignerScrubber; readonly report: Ask['report'] },
): DeviceInit['open'] {
  const { at } = config
  if (at.kind === 'socket') {
    return async (request, { signal }, listener) => {
      const channel = await channels.dial(at.path, listener, signal)
      channel.send(request.line)
      return channel
    }
  }
  const { command } = at
  return async (request, { signal, interactive }, listener) => {
    const found = await locateProgram(
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
