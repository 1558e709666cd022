/** How kinds of moments are called and drawn. */
export const KINDS = {
  acquired: { name: 'acquired', glyph: '●' },
  refreshed: { name: 'refreshed', glyph: '↻' },
  refused: { name: 'refused', glyph: '◆' },
  waiting: { name: 'waiting', glyph: '…' },
  failed: { name: 'failed', glyph: '✕' },
  signed: { name: 'signed', glyph: '✎' },
  warning: { name: 'warnings', glyph: '!' },
  forgotten: { name: 'forgotten', glyph: '○' },
}

const SOURCES = {
  exec: 'plugin',
  oidc: 'OIDC issuer',
  signer: 'signer',
  'token-file': 'token file',
  'certificate-files': 'certificate files',
  static: 'kubeconfig',
  login: 'login handler',
  vault: 'login handlers',
  anonymous: 'no credential',
}

/** What kind of source it is, and its name without the folder. */
export function sourceWords({ kind, name }) {
  if (kind === 'anonymous') return { kind: SOURCES[kind], name: '' }
  return { kind: SOURCES[kind] ?? kind, name: name.split(/[\\/]/).pop() || name }
}

/** Time left, as a number and a unit. */
export function timeLeft(milliseconds) {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000))
  if (seconds < 100) return [seconds, 's']
  if (seconds < 5940) return [Math.floor(seconds / 60), 'min']
  if (seconds < 172_800) return [Math.floor(seconds / 3600), 'h']
  return [Math.floor(seconds / 86_400), 'd']
}

const LONG_UNITS = { s: 'second', min: 'minute', h: 'hour', d: 'day' }

/** The same for those who listen. */
export function timeLeftSpoken(milliseconds) {
  const [number, unit] = timeLeft(milliseconds)
  return `${number} ${LONG_UNITS[unit]}${number === 1 ? '' : 's'}`
}

/** How long something took. */
export function duration(milliseconds) {
  if (milliseconds < 1) return '< 1 ms'
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 100_000) return `${(milliseconds / 1000).toFixed(1)} s`
  return `${Math.round(milliseconds / 60_000)} min`
}

const counted = new Intl.NumberFormat('en')

/** A number with its noun: `1 request`, `2,000 requests`. */
export function count(number, noun) {
  return `${counted.format(number)} ${number === 1 ? noun : noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`}`
}

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

/** The time of day: `14:03:59`. */
export function timeOfDay(at) {
  return clock.format(at)
}
