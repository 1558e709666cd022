/** The version of this package; a test compares it with package.json. */
export const VERSION = '0.1.0'

/** Where an object says which version of this package made it; a symbol that all versions know. */
export const MADE_BY = Symbol.for('kubecred/made-by')

/**
 * Checks that this version made an object of ours: the insides differ between versions.
 *
 * @param caller The function that takes the object, for the message.
 * @param kind What the object is, for the message.
 * @throws {TypeError} Names both versions.
 */
export function checkVersion(
  made: { readonly [MADE_BY]?: string } | null | undefined,
  caller: string,
  kind: string,
): void {
  const version = made?.[MADE_BY]
  if (version === undefined || version === VERSION) return
  throw new TypeError(
    `${caller} of kubecred ${VERSION} cannot use the ${kind} of kubecred ${version}: take both from one version`,
  )
}
