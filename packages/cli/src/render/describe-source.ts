import type { SourceLabel } from 'kubecred'
import { printableLine } from './printable.ts'

/** Describes a source, such as `exec plugin "aws"`. */
export function describeSource({ kind, name }: SourceLabel): string {
  switch (kind) {
    case 'exec':
      return `exec plugin ${quote(name)}`
    case 'oidc':
      return `OIDC issuer ${quote(name)}`
    case 'signer':
      return `external signer ${quote(name)}`
    case 'token-file':
      return `token file ${quote(name)}`
    case 'certificate-files':
      return `certificate files ${quote(name)}`
    case 'static':
      return `${printableLine(name).replace('basic', 'username and password')} from the kubeconfig or a flag`
    case 'login':
      return `login handler ${quote(name)}`
    case 'vault':
      return printableLine(name)
    case 'anonymous':
      return 'no credential (anonymous)'
  }
}

/** Quotes a name, on one line and without control characters. */
export function quote(name: string): string {
  return printableLine(JSON.stringify(name))
}
