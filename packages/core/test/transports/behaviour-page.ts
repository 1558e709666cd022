import { CASES, type Case, type Driver } from './driver.ts'

const BEGIN = '<!-- behaviour-table -->'
const END = '<!-- /behaviour-table -->'
const BEGIN_SIGNED = '<!-- signatures-table -->'
const END_SIGNED = '<!-- /signatures-table -->'

/** What each row of the table promises, for the reader of the page. */
const MEANINGS: Readonly<Record<Case, string>> = {
  'cold herd': '100 requests at once, no credential yet: one plugin run, all answered',
  warm: 'no more runs, and connections are kept',
  expiry: 'tokens expire while requests go on: none fails',
  '401 once': 'one request or 50 at once after a revocation: one more run, none fails',
  '401 forever': "the caller gets the server's own 401, and the plugin is not run again at once",
  'revoked mid-stream': 'an open watch goes on, the next request has a new token',
  'certificate rotated': 'open requests go on, new ones use the new certificate',
  'certificate refused in the handshake': 'the plugin runs again, once',
  'CA rotated': 'open requests go on, new connections trust the new CA',
  "caller's own Authorization": 'is sent unchanged, without anything of ours',
  'POST with a string': 'after a 401 it is sent again completely, and creates one object',
  'POST with a Buffer': 'the same',
  'POST with a stream': 'the same, for streams up to 256 KiB',
  upgrade: 'WebSockets and SPDY: `exec`, `attach`, `portforward`',
  'upgrade refused once': 'the token is renewed and the upgrade tried again',
  abort: 'the call is rejected at once; the server sees the end of a stream',
  proxy: 'through the CONNECT proxy of `proxy-url`',
  'redirect to another origin': 'no other server ever receives the credential',
  'server restart': 'dead connections are replaced, and no request fails',
}

/** Returns the page with the current table of the drivers. */
export function withBehaviourTable(page: string, drivers: readonly Driver[]): string {
  const signed = between(page, [BEGIN_SIGNED, END_SIGNED], signaturesTable(drivers))
  return between(signed, [BEGIN, END], behaviourTable(drivers))
}

function between(
  page: string,
  [beginning, ending]: readonly [string, string],
  content: string,
): string {
  const [begin, end] = [page.indexOf(beginning), page.indexOf(ending)]
  if (begin === -1 || end < begin) throw new Error(`the page needs ${beginning} and ${ending}`)
  return `${page.slice(0, begin + beginning.length)}\n\n${content}\n${page.slice(end)}`
}

/** Transports with the same numbers share a line. */
function signaturesTable(drivers: readonly Driver[]): string {
  const lines = new Map<string, { names: string[]; cells: string[] }>()
  for (const { name, signatures, cannot } of drivers) {
    if (cannot?.['certificate rotated'] !== undefined) continue
    const { inTurn, atOnce, why } = signatures ?? ONE_CONNECTION
    const cells = [String(inTurn), String(atOnce), why]
    const line = lines.get(cells.join()) ?? { names: [], cells }
    line.names.push(name)
    lines.set(cells.join(), line)
  }
  const rows = [...lines.values()].map(({ names, cells }) => [names.join('; '), ...cells])
  return table([['transport', '20 in turn', '20 at once', 'because'], ...rows])
}

const ONE_CONNECTION: NonNullable<Driver['signatures']> = {
  inTurn: 1,
  atOnce: 1,
  why: 'One HTTP/2 connection.',
}

function behaviourTable(drivers: readonly Driver[]): string {
  const cases = CASES.map((name) => [name, MEANINGS[name]])
  const transports = drivers.map((driver) => [
    driver.name,
    driver.tellsErrors ?? '',
    describeExceptions(driver),
  ])
  return [
    table([['case', 'what must hold'], ...cases]),
    table([['transport', 'our errors come', 'holds'], ...transports]),
  ].join('\n')
}

/** `all`, or the cases that are not supported, grouped by their reason. */
function describeExceptions({ cannot = {} }: Driver): string {
  const byReason = new Map<string, Case[]>()
  for (const name of CASES) {
    const reason = cannot[name]
    if (reason !== undefined) byReason.set(reason, [...(byReason.get(reason) ?? []), name])
  }
  if (byReason.size === 0) return 'all'
  const [[reason, names] = ['', []]] = byReason
  if (byReason.size === 1 && names.length > CASES.length / 2) {
    const others = CASES.filter((name) => !names.includes(name))
    return `only **${others.join(', ')}**: ${reason}`
  }
  const parts = [...byReason].map(([why, which]) => `**${which.join(', ')}**: ${why}`)
  return `all but ${parts.join(' ')}`
}

/** A table with its columns aligned. */
function table(lines: readonly (readonly string[])[]): string {
  const [head = []] = lines
  const widths = head.map((_, at) => Math.max(...lines.map((line) => (line[at] ?? '').length)))
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |\n`
  const rule = widths.map((width) => '-'.repeat(width))
  return [head, rule, ...lines.slice(1)].map(row).join('')
}
