// What `kubecred/errors` exports. The classes are types: programs switch on `code`, which stays the same between
// versions and copies of this package, where `instanceof` does not.
export type * from './index.ts'
export { CODES, CredentialError, describeUnexpected, isCredentialError } from './index.ts'
