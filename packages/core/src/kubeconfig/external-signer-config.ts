import { SignerConfigError } from '../errors/index.ts'
import type { SignerParameters, SignerProtocol } from '../signer/signer-protocol.ts'
import type { UserEntry } from './kubeconfig.ts'
import { describeEntry } from './problem.ts'

/** The name of the auth-provider for external signers. */
export const EXTERNAL_SIGNER = 'externalSigner'

/** The auth-provider `externalSigner`: a private key in another process. */
export interface SignerConfig {
  readonly at: /** Started by this process; a name is looked up in PATH, a path is absolute. */
  { readonly kind: 'program'; readonly command: string } | SignerAddress
  readonly protocol: SignerProtocol
  /** All parameters of the entry. They are sent to the signer, and may contain a PIN. */
  readonly parameters: SignerParameters
}

/** The Unix socket of a signer that the user started, by its absolute path. */
export interface SignerAddress {
  readonly kind: 'socket'
  readonly path: string
}

/** The parameters that contain the path of the signer, and what the path is. */
export const SIGNER_PATH_PARAMETERS = {
  pathExec: 'program',
  pathSocket: 'socket',
} as const satisfies Record<string, SignerConfig['at']['kind']>

/** Returns the name of a signer for messages: the command or the path of the socket. */
export function signerName({ at }: SignerConfig): string {
  return at.kind === 'program' ? at.command : at.path
}

/** The protocol of a signer, by the value of `signerProtocol`. */
const PROTOCOLS: ReadonlyMap<string, SignerProtocol> = new Map([
  ['', 'specification'],
  ['v1alpha1', 'specification'],
  ['2020', 'reference2020'],
])

/**
 * Returns the auth-provider `externalSigner` of a user entry; undefined if the entry has none.
 *
 * @throws {SignerConfigError} `ERR_SIGNER_CONFIG` with file, user and parameter, never with a value.
 */
export function externalSignerConfig(user: UserEntry): SignerConfig | undefined {
  if (user.authProvider?.name !== EXTERNAL_SIGNER) return undefined
  const { config: parameters, problem } = user.authProvider
  if (problem !== undefined) throw problem
  const text = (key: string): string => parameters.get(key)?.expose() ?? ''
  const reject = (wrong: string, hint: string): never => {
    const entry = describeEntry('user', user)
    throw new SignerConfigError(
      `${entry} has an invalid auth-provider ${EXTERNAL_SIGNER}: ${wrong}`,
      {
        hint,
      },
    )
  }
  const command = text('pathExec')
  const path = text('pathSocket')
  if (command === '' && path === '') {
    reject(
      'pathExec is missing',
      'Set pathExec to the signer program, or pathSocket to the Unix socket of a running signer.',
    )
  }
  if (command !== '' && path !== '') {
    reject('it has both pathExec and pathSocket', 'Remove one of pathExec and pathSocket.')
  }
  const protocol =
    PROTOCOLS.get(text('signerProtocol')) ??
    reject(
      'signerProtocol has an unknown value',
      'Remove signerProtocol, or set it to "v1alpha1" or "2020".',
    )
  return {
    at: path === '' ? { kind: 'program', command } : { kind: 'socket', path },
    protocol,
    parameters: new Map(parameters),
  }
}
