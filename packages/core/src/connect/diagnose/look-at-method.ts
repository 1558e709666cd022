import type { UserIdentity } from '../../kubeconfig/connection.ts'
import { signerName } from '../../kubeconfig/external-signer-config.ts'
import type { Look } from './finding.ts'

/** How the user entry says to authenticate. */
export function lookAtMethod(user: UserIdentity): Look {
  const methods = methodsOf(user)
  const { impersonate } = user
  const details = [
    ...(impersonate === undefined ? [] : [`asks to act as: ${impersonate.user}`]),
    ...(user.externalSigner === undefined
      ? []
      : ['TLS 1.3 only: a signer signs no other handshake']),
  ]
  if (methods.length > 0) return { verdict: 'good', summary: methods.join(', '), details }
  return {
    verdict: 'odd',
    summary: 'none: requests are anonymous',
    details,
    remedy:
      'Give the user entry a way to authenticate, such as exec or token, or choose another user with --user.',
  }
}

function methodsOf(user: UserIdentity): string[] {
  const { exec, oidc, externalSigner, token, tokenFile, basic, certificate } = user
  return [
    exec && `plugin ${JSON.stringify(exec.command)} (${exec.apiVersion.replace(/^.*\//, '')})`,
    oidc && `OpenID Connect at ${oidc.issuer}`,
    externalSigner && `external signer ${JSON.stringify(signerName(externalSigner))}`,
    tokenFile !== undefined && `token file ${tokenFile}`,
    token && tokenFile === undefined && 'a token',
    basic && `user name ${JSON.stringify(basic.username)} and password`,
    certificate &&
      (certificate.chain.from === 'file'
        ? `client certificate ${certificate.chain.path}`
        : 'a client certificate'),
  ].filter((method): method is string => typeof method === 'string')
}
