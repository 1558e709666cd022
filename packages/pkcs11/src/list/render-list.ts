import { type ListedEntry, type ListedLibrary, type ListedToken, PIN_WORDS } from './listed.ts'
import { stanzaFor } from './stanza.ts'

const DAY_MS = 86_400_000

/** What was found, for people. */
export function renderList(libraries: readonly ListedLibrary[], now: number): string {
  if (libraries.length === 0) {
    return 'p11-kit knows no PKCS#11 library here; name one with --lib PATH.\n'
  }
  const blocks = libraries.map((library) => renderLibrary(library, now).map(printable))
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

function renderLibrary(
  { library, description, problem, tokens }: ListedLibrary,
  now: number,
): string[] {
  if (problem !== undefined) return [library, `  ${problem}`]
  const head = [library, `  ${description || '(says nothing about itself)'}`]
  if (tokens.length === 0) return [...head, '  no token is plugged in']
  return [...head, ...tokens.flatMap((token) => renderToken(token, now))]
}

function renderToken(token: ListedToken, now: number): string[] {
  const { label, serial, slotId, model, pin, problem, entries } = token
  return [
    '',
    `  token ${JSON.stringify(label)}`,
    `    serial ${serial || '(none)'}, slot ${slotId}, ${model}`,
    `    PIN: ${PIN_WORDS[pin]}`,
    ...(problem === undefined ? [] : [`    ${problem}`]),
    ...(entries.length === 0
      ? ['    nothing can be seen; use --login to see private objects']
      : []),
    ...entries.flatMap((entry) => renderEntry(entry, now)),
  ]
}

function renderEntry(entry: ListedEntry, now: number): string[] {
  const { id, labels, isMatch, config } = entry
  const named = labels.map((label) => JSON.stringify(label)).join(', ')
  const match = isMatch ? 'yes' : 'NO: the certificate is for another key'
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

/** A stanza for something that cannot work would be pasted all the same. */
function isUsable({ key, certificate, isMatch }: ListedEntry): boolean {
  const isKnownKey = key === undefined || key.kind !== undefined
  return certificate !== undefined && !certificate.isExpired && isMatch !== false && isKnownKey
}

function describeKey({ key }: ListedEntry): string {
  if (key === undefined) return 'not seen; use --login'
  const kind = key.kind ?? 'of a kind that TLS cannot use'
  return key.isPrivateSeen ? kind : `${kind}, its public part; use --login to see the private one`
}

function describeCertificate({ certificate }: ListedEntry, now: number): string {
  if (certificate === undefined) return 'none; put one beside the key, with the same id'
  const day = certificate.notAfter.slice(0, 10)
  const days = Math.floor((Date.parse(certificate.notAfter) - now) / DAY_MS)
  const until = certificate.isExpired ? `EXPIRED on ${day}` : `until ${day} (${days} days)`
  return `${certificate.subject || '(no subject)'}; ${until}`
}

/** The name of a user entry may be anything; the common name is what people look for. */
function userNameOf({ certificate, labels, id }: ListedEntry): string {
  const [, name] = /(?:^|, )CN=([^,]+)/.exec(certificate?.subject ?? '') ?? []
  return name ?? labels[0] ?? id
}

/** Labels and names are what somebody wrote: they must not steer the terminal. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
  })
}
