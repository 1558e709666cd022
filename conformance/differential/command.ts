import type { SandboxChoice } from '../request-credentials.ts'
import type { Scene } from './scene.ts'

/** A command that is run with kubectl and with kubecred, with the same files, variables and flags. */
export interface Command {
  /** Variables in addition to HOME, PATH and KUBECONFIG of the scene; `undefined` removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly flags?: readonly string[]
  /** By default `/api/v1/namespaces`. */
  readonly path?: string
  /** A file to post; by default the path is read with GET. */
  readonly body?: string
  /** Whether the program runs in a terminal. */
  readonly hasTerminal?: boolean
  /** The working folder; by default the scene's. */
  readonly folder?: string
  /** Texts to look for in the output of both. */
  readonly mayShow?: string
  /** Runs before each of the two. */
  readonly before?: () => void
}

/** A case that is run with both programs. */
export interface DifferentialCase {
  readonly id: string
  /** A short description, which is also in docs/compatibility.md. */
  readonly about: string
  readonly server?: SandboxChoice
  /** Prepares the scene, and returns the commands to run in order. */
  readonly play: (scene: Scene) => readonly Command[] | Promise<readonly Command[]>
}
