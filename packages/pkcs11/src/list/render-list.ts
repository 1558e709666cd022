import {
  type ListedEntry,
  type ListedLibrary,
  type ListedToken,
  PIN_STATES,
} from './listed-library.ts'
import { stanzaFor } from './stanza.ts'

const DAY_MS = 86_400_000

/** Renders the list as text. */
export function renderList(libraries: readonly ListedLibrary[], now: number): string {
  if (libraries.length === 0) {
    return 'No PKCS#11 library is registered with p11-kit; name one with --lib PATH.\n'
  }
  const blocks = libraries.map((library) => renderLibrary(library, now).map(printable))
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

function renderLibrary(
  { library, description, problem, tokens }: ListedLibrary,
  now: number,
): string[] {
  if (problem !== undefined) return [library, `  ${problem}`]
  const head = [library, `  ${description || '(no description)'}`]
  if (tokens.length === 0) return [...head, '  no token']
  return [...head, ...tokens.flatMap((token) => renderToken(token, now))]
}

function renderToken(token: ListedToken, now: number): string[] {
  const { label, serial, slotId, model, pin, problem, entries } = token
  return [
    '',
    `  token ${JSON.stringify(label)}`,
    `    serial ${serial || '(none)'}, slot ${slotId}, ${model}`,
    `    PIN: ${PIN_STATES[pin]}`,
    ...(problem === undefined ? [] : [`    ${problem}`]),
    ...(entries.length === 0
      ? ['    no objects visible; use --login to list private objects']
      : []),
    ...entries.flatMap((entry) => renderEntry(entry, now)),
  ]
}

function renderEntry(entry: ListedEntry, now: number): string[] {
  const { id, labels, isMatch, config } = entry
  const named = labels.map((label) => JSON.stringify(label)).join(', ')
  const match = isMatch ? 'yes' : 'NO: the certificate belongs to another key'
  return [
    '',
    `    id ${id || '(none)'}${named === '' ? '' : `  ${named}`}`,
    `      key          ${describeKey(entry)}`,
    `      certificate  ${describeCertificate(entry, now)}`,
    ...(isMatch === undefined ? [] : [`      match        ${match}`]),
    ...(isUsable(entry)
      ? ['', ...stanzaFor(userNameOf(entry), config).map((line) => `      ${line}`)]
      : []),
  ]
}

/** Whether a user entry is worth printing: users would paste one that cannot work. */
function isUsable({ key, certificate, isMatch }: ListedEntry): boolean {
  const isKnownKey = key === undefined || key.kind !== undefined
  return certificate !== undefined && !certificate.isExpired && isMatch !== false && isKnownKey
}

function describeKey({ key }: ListedEntry): string {
  if (key === undefined) return 'not visible; use --login'
  const kind = key.kind ?? 'not usable for TLS'
  return key.isPrivateSeen ? kind : `${kind} (public key only; use --login to list the private key)`
}

function describeCertificate({ certificate }: ListedEntry, now: number): string {
  if (certificate === undefined) return 'none; store one with the id of the key'
  const day = certificate.notAfter.slice(0, 10)
  const days = Math.floor((Date.parse(certificate.notAfter) - now) / DAY_MS)
  const until = certificate.isExpired ? `EXPIRED on ${day}` : `until ${day} (${days} days)`
  return `${certificate.subject || '(no subject)'}; ${until}`
}

/** Names the user entry after the common name of the certificate, else the label or id. */
function userNameOf({ certificate, labels, id }: ListedEntry): string {
  const [, name] = /(?:^|, )CN=([^,]+)/.exec(certificate?.subject ?? '') ?? []
  return name ?? labels[0] ?? id
}

/** Escapes control characters: labels and names are untrusted and must not control the terminal. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
  })
}
