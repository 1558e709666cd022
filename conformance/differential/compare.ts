import { isDeepStrictEqual } from 'node:util'
import type { DifferentialCase } from './command.ts'
import { type Observation, observe } from './observe.ts'
import { Scene } from './scene.ts'
import type { Program } from './type-command.ts'

/** A compared aspect; differences.json uses these names. */
export type Aspect = Exclude<keyof Observation, 'said'>

/** The differences of one command. */
export interface Difference {
  readonly command: number
  readonly aspect: Aspect
  /** Of kubectl. */
  readonly theirs: unknown
  readonly ours: unknown
  /** What each of them printed. */
  readonly said: { readonly kubectl: string; readonly kubecred: string }
}

const ASPECTS: readonly Aspect[] = ['outcome', 'requests', 'connections', 'runs', 'input', 'shown']

/** Runs a case with both programs and returns their differences. */
export async function compare(
  { server, play }: DifferentialCase,
  programs: { readonly kubectl: Program; readonly kubecred: Program },
): Promise<readonly Difference[]> {
  await using scene = await Scene.set(server)
  const differences: Difference[] = []
  const commands = await play(scene)
  for (const [index, command] of commands.entries()) {
    const kubectl = await observe(programs.kubectl, command, scene)
    const kubecred = await observe(programs.kubecred, command, scene)
    for (const aspect of ASPECTS) {
      const [theirs, ours] = [kubectl[aspect], kubecred[aspect]]
      const said = { kubectl: kubectl.said, kubecred: kubecred.said }
      const difference = { command: index + 1, aspect, theirs, ours, said }
      if (isDeepStrictEqual(theirs, ours) || isCutOff(difference, server)) continue
      differences.push(difference)
    }
  }
  return differences
}

/**
 * Whether kubectl could not read why the server refused it.
 *
 * A server that requires a certificate closes the connection after its TLS alert. If kubectl is still writing its request,
 * it reports the write instead of the alert.
 */
function isCutOff({ theirs, ours, said }: Difference, server: DifferentialCase['server']): boolean {
  const isRefused = server?.requireClientCertificate === true && ours === 'tls'
  return isRefused && theirs === 'network' && /broken pipe|connection reset/.test(said.kubectl)
}
