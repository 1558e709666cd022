import { SignerConfigError } from '../errors/index.ts'
import type { SignerParameters, SignerProtocol } from '../signer/signer-protocol.ts'
import type { UserEntry } from './kubeconfig.ts'
import { describeEntry } from './problem.ts'

/** The name under which a user entry asks for an external signer. */
export const EXTERNAL_SIGNER = 'externalSigner'

/** A private key in another process: the auth-provider `externalSigner`. */
export interface SignerConfig {
  readonly at: /** Started by us; a bare name is looked up in PATH, a path is absolute. */
  { readonly kind: 'program'; readonly command: string } | SignerAddress
  readonly protocol: SignerProtocol
  /** All parameters of the entry. The signer is told each of them, and a PIN may be among them. */
  readonly parameters: SignerParameters
}

/** Where a signer listens that the user started: a unix socket, by its absolute path. */
export interface SignerAddress {
  readonly kind: 'socket'
  readonly path: string
}

/** The parameters that say where the signer is, all of them paths, and what is there. */
export const SIGNER_PATH_PARAMETERS = {
  pathExec: 'program',
  pathSocket: 'socket',
} as const satisfies Record<string, SignerConfig['at']['kind']>

/** The program or socket, as configured: what a signer goes by. */
export function signerName({ at }: SignerConfig): string {
  return at.kind === 'program' ? at.command : at.path
}

/** Which words a signer speaks, by the value of `signerProtocol`. */
const PROTOCOLS: ReadonlyMap<string, SignerProtocol> = new Map([
  ['', 'specification'],
  ['v1alpha1', 'specification'],
  ['2020', 'reference2020'],
])

/**
 * Reads the auth-provider `externalSigner` of a user entry; undefined when the entry has none.
 *
 * @throws {SignerConfigError} Names file, user and parameter, never a value.
 */
export function externalSignerConfig(user: UserEntry): SignerConfig | undefined {
  if (user.authProvider?.name !== EXTERNAL_SIGNER) return undefined
  const { config: parameters, problem } = user.authProvider
  if (problem !== undefined) throw problem
  const text = (key: string): string => parameters.get(key)?.expose() ?? ''
  const refuse = (wrong: string, hint: string): never => {
    const who = describeEntry('user', user)
    throw new SignerConfigError(`${who} has an auth-provider ${EXTERNAL_SIGNER}: ${wrong}`, {
      hint,
    })
  }
  const command = text('pathExec')
  const path = text('pathSocket')
  if (command === '' && path === '') {
    refuse(
      'pathExec is missing',
      'Set pathExec to the program that signs, or pathSocket to the unix socket of one that runs.',
    )
  }
  if (command !== '' && path !== '') {
    refuse('it has both pathExec and pathSocket', 'Remove one of pathExec and pathSocket.')
  }
  const protocol =
    PROTOCOLS.get(text('signerProtocol')) ??
    refuse(
      'signerProtocol has an unknown value',
      'Remove signerProtocol, or set it to "v1alpha1" or to "2020".',
    )
  return {
    at: path === '' ? { kind: 'program', command } : { kind: 'socket', path },
    protocol,
    parameters: new Map(parameters),
  }
}
