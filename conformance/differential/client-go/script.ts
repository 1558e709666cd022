import type { SandboxChoice } from '../../request-credentials.ts'
import type { Play } from './play.ts'

/** What both do, one after the other. */
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

/** A request, and how often it is sent at once. */
export interface Sending {
  readonly method?: string
  readonly path?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly times?: number
  /** The only client that shall send, counted from 1. */
  readonly client?: number
}

/** One of the two that are compared. */
export interface Client extends AsyncDisposable {
  /** What its errors said, for people who look into a difference. */
  readonly trouble: readonly string[]
  /** Undefined, or why it could not be opened: `refused`. */
  open(opening: Opening): Promise<'refused' | undefined>
  /** The status of each, or `error`. */
  send(sending: Sending): Promise<readonly (number | 'error')[]>
  /** Opens a watch that stays open. */
  watch(path: string): Promise<number | 'error'>
  /** Whether every watch tells about an object. */
  see(name: string): Promise<boolean>
  /** Starts an informer on namespaces; whether it got its first list. */
  inform(): Promise<boolean>
  /** Whether every informer gets to know an object. */
  informed(name: string): Promise<boolean>
}
