/** The names and glyphs of the kinds of events. */
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

/** Returns the kind of a source and its name without the folder. */
export function formatSource({ kind, name }) {
  if (kind === 'anonymous') return { kind: SOURCES[kind], name: '' }
  return { kind: SOURCES[kind] ?? kind, name: name.split(/[\\/]/).pop() || name }
}

/** Returns a remaining time as a number and a unit. */
export function formatTimeLeft(milliseconds) {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000))
  if (seconds < 100) return [seconds, 's']
  if (seconds < 5940) return [Math.floor(seconds / 60), 'min']
  if (seconds < 172_800) return [Math.floor(seconds / 3600), 'h']
  return [Math.floor(seconds / 86_400), 'd']
}

const LONG_UNITS = { s: 'second', min: 'minute', h: 'hour', d: 'day' }

/** Spells out a remaining time for screen readers. */
export function spellTimeLeft(milliseconds) {
  const [number, unit] = formatTimeLeft(milliseconds)
  return `${number} ${LONG_UNITS[unit]}${number === 1 ? '' : 's'}`
}

/** Formats how long something took. */
export function formatDuration(milliseconds) {
  if (milliseconds < 1) return '< 1 ms'
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 100_000) return `${(milliseconds / 1000).toFixed(1)} s`
  return `${Math.round(milliseconds / 60_000)} min`
}

const counted = new Intl.NumberFormat('en')

/** Formats a number with its noun: `1 request`, `2,000 requests`. */
export function count(number, noun) {
  return `${counted.format(number)} ${number === 1 ? noun : noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`}`
}

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

/** Formats a time of day: `14:03:59`. */
export function formatTime(at) {
  return clock.format(at)
}
