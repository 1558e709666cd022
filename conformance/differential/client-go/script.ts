import type { SandboxChoice } from '../../request-credentials.ts'
import type { Play } from './play.ts'

/** A script that both clients run. */
export interface Script {
  readonly id: string
  readonly about: string
  readonly server?: SandboxChoice
  readonly play: (play: Play) => Promise<void>
}

/** How a client is opened. */
export interface Opening {
  readonly kubeconfig: string
  readonly count?: number
  readonly token?: string
  readonly username?: string
  readonly password?: string
  readonly clientCertificate?: string
  readonly clientKey?: string
  readonly stdinUnavailable?: boolean
  readonly env?: Readonly<Record<string, string>>
}

/** A request, and how many times it is sent concurrently. */
export interface Sending {
  readonly method?: string
  readonly path?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly times?: number
  /** The client that sends, counted from 1; by default all. */
  readonly client?: number
}

/** A compared client. */
export interface Client extends AsyncDisposable {
  /** Its error messages, for the analysis of a difference. */
  readonly trouble: readonly string[]
  /** Opens clients. Resolves to undefined, or to `refused` if that failed. */
  open(opening: Opening): Promise<'refused' | undefined>
  /** Sends requests. Resolves to the status of each, or `error`. */
  send(sending: Sending): Promise<readonly (number | 'error')[]>
  /** Opens a watch that stays open. */
  watch(path: string): Promise<number | 'error'>
  /** Whether every watch receives an object. */
  see(name: string): Promise<boolean>
  /** Starts an informer on namespaces; whether it got its first list. */
  inform(): Promise<boolean>
  /** Whether every informer receives an object. */
  informed(name: string): Promise<boolean>
}
