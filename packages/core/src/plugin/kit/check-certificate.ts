import { PluginCertificateError } from '../../errors/index.ts'
import { nodeCrypto } from '../../node/node-crypto.ts'
import { describePairProblem } from '../../sources/static-source.ts'
import type { ExecAnswer } from '../exec-status.ts'
import { programName } from './plugin-process.ts'

/**
 * Checks that a certificate and a key match, as the client would.
 *
 * @throws {PluginCertificateError} `ERR_PLUGIN_CERTIFICATE`
 */
export function checkCertificate({ chain, key }: NonNullable<ExecAnswer['certificate']>): void {
  const pair = nodeCrypto.readPair(chain, key)
  if (typeof pair !== 'string') return
  throw new PluginCertificateError(
    programName(),
    `returned a certificate that cannot be used: ${describePairProblem(pair)}`,
    { hint: 'Return the PEM of a certificate and of its private key.' },
  )
}
