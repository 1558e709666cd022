import type { Token } from '../tokens.ts'
import type { ListedEntry } from './listed-library.ts'

/** Where an entry was found. */
export interface StanzaContext {
  readonly token: Token
  /** All tokens of the library, because labels need not be unique. */
  readonly tokens: readonly Token[]
  readonly library: string
  readonly program: string
}

/** Returns the `config` map that selects an entry. It uses only what stays the same, so not the slot number. */
export function configurationFor(
  { id, labels }: Pick<ListedEntry, 'id' | 'labels'>,
  { token, tokens, library, program }: StanzaContext,
): Readonly<Record<string, string>> {
  const isUnique = tokens.filter(({ label }) => label === token.label).length === 1
  const isNamed = token.label !== '' && isUnique
  return {
    pathExec: program,
    pathLib: library,
    ...(isNamed ? { tokenLabel: token.label } : { tokenSerial: token.serial }),
    ...(id === '' ? { objectLabel: labels[0] ?? '' } : { objectIdHex: id }),
  }
}

/** Returns the lines of a kubeconfig user entry. Every value is quoted: "02" must stay a string. */
export function stanzaFor(name: string, configuration: Readonly<Record<string, string>>): string[] {
  return [
    'users:',
    `  - name: ${JSON.stringify(name)}`,
    '    user:',
    '      auth-provider:',
    '        name: externalSigner',
    '        config:',
    ...Object.entries(configuration).map(
      ([key, value]) => `          ${key}: ${JSON.stringify(value)}`,
    ),
  ]
}
