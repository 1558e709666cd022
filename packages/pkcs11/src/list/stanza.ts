import type { Token } from '../tokens.ts'
import type { ListedEntry } from './listed.ts'

export interface Place {
  readonly token: Token
  /** All tokens of the library: labels need not be unique. */
  readonly tokens: readonly Token[]
  readonly library: string
  readonly program: string
}

/** The `config` map that chooses an entry: by what stays the same, so not by the number of the slot. */
export function configurationFor(
  { id, labels }: Pick<ListedEntry, 'id' | 'labels'>,
  { token, tokens, library, program }: Place,
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

/** The user entry of a kubeconfig, ready to paste. Every value is in quotes: "02" must stay text. */
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
