import type { SandboxChoice } from '../request-credentials.ts'
import type { Scene } from './scene.ts'

/** One line that is typed twice: for kubectl, and for kubecred. Both get the same files, variables and flags. */
export interface Command {
  /** Over HOME, PATH and KUBECONFIG, which the scene sets; `undefined` takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly flags?: readonly string[]
  /** `/api/v1/namespaces` unless told. */
  readonly path?: string
  /** A file whose content is posted; without it the path is read. */
  readonly body?: string
  /** Whether a person sits at a terminal. */
  readonly hasTerminal?: boolean
  /** The folder it is typed in; the scene's own unless told. */
  readonly folder?: string
  /** Words that may be shown; which of the two shows them is compared. */
  readonly mayShow?: string
  /** What has to be so before each of the two begins. */
  readonly before?: () => void
}

/** A situation in which both programs are used. */
export interface DifferentialCase {
  readonly id: string
  /** What is tried, in a few words; the words of the page. */
  readonly about: string
  readonly server?: SandboxChoice
  /** Sets the scene and gives the commands, which are typed one after the other. */
  readonly play: (scene: Scene) => readonly Command[] | Promise<readonly Command[]>
}
