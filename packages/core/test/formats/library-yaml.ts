import { parseDocument } from 'yaml'

/**
 * Returns the data of one YAML document as the library itself converts it: a reference for our own conversion.
 *
 * @returns Undefined if the library finds an error.
 */
export function parseWithLibrary(text: string): unknown {
  try {
    const document = parseDocument(text, { version: '1.1', uniqueKeys: false, logLevel: 'silent' })
    return document.errors.length > 0 ? undefined : document.toJS({ maxAliasCount: 100 })
  } catch {
    return undefined
  }
}
