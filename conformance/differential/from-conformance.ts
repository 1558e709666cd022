import type { Case, NamedCase } from '../case.ts'
import type { KubeconfigCase } from '../run-kubeconfig.ts'
import type { DifferentialCase } from './command.ts'
import { playHint } from './play-hint.ts'
import { playPlugin } from './play-plugin.ts'
import { playPolicy } from './play-policy.ts'
import { playRequest } from './play-request.ts'
import { playRoundTrip } from './play-round-trip.ts'
import type { Scene } from './scene.ts'

/** A case that cannot be run as a command, with the reason. */
export interface NotTyped {
  readonly id: string
  readonly why: string
}

/** Turns the cases of conformance/cases into commands, or returns why that is not possible. */
export function fromConformance(named: NamedCase): DifferentialCase | NotTyped {
  const { id, data } = named
  const why = data.skip === undefined ? whyNot(data) : data.skip
  if (why !== undefined) return { id, why }
  return {
    id,
    about: data.rule,
    ...(data.kind === 'request' && data.server && { server: data.server }),
    play: (scene) => play(data, scene),
  }
}

function whyNot(data: Case): string | undefined {
  switch (data.kind) {
    case 'identity':
      return 'two connections in one process, and a command has one; compared with client-go'
    case 'metrics':
      return 'kubectl shows no metrics'
    case 'signer':
      return 'kubectl knows no external signers'
    case 'plugin':
      return data.given.stdinUnavailable === undefined
        ? undefined
        : 'no flag of kubectl get says that standard input is taken'
    case 'request':
      return data.steps[0]?.headers === undefined
        ? undefined
        : 'kubectl has no flag for headers; compared with client-go'
    default:
      return undefined
  }
}

function play(data: Case, scene: Scene): ReturnType<DifferentialCase['play']> {
  switch (data.kind) {
    case 'plugin':
      return playPlugin(data, scene)
    case 'request':
      return playRequest(data, scene)
    case 'policy':
      return playPolicy(data, scene)
    case 'kubeconfig':
      return playKubeconfig(data, scene)
    case 'hint':
      return playHint(data, scene)
    case 'round-trip':
      return playRoundTrip(data, scene)
    default:
      throw new Error(`cases of kind ${data.kind} have no commands`)
  }
}

function playKubeconfig({ user = {}, cluster = {}, flags = {} }: KubeconfigCase, scene: Scene) {
  const { apiVersion }: { apiVersion?: string } = 'exec' in user ? (user.exec as object) : {}
  // Most of these stanzas name this plugin, but do not test whether it exists.
  scene.plugin('p', { stdout: scene.answer(undefined, apiVersion) })
  scene.config({ user, cluster })
  return [{ flags: Object.entries(flags).map(([name, value]) => `--${name}=${value}`) }]
}
