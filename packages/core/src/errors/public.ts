// The public subpath `kubecred/errors`. The classes are exported as types only: programs switch on `code`, which works
// across versions and copies of this package, where `instanceof` does not.
export type * from './index.ts'
export { CODES, CredentialError, describeUnexpected, isCredentialError } from './index.ts'
