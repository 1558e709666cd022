// The table in the terminal, 100 columns wide.
import { showValues, verdictOf } from './verdict.mjs'

const WHAT = 43
const PEER = 19
const VALUE = 22
const TARGET = 7

export function tableHead() {
  return line('what', 'peer', 'value', 'target', 'verdict')
}

export function tableRow(row) {
  const { what, unit, peer = '', target = '' } = row
  const words = `  ${unit === undefined ? what : `${what}, ${unit}`}`
  const verdict = verdictOf(row)
  return line(words, peer, showValues(row), target, verdict === 'no target' ? '-' : verdict)
}

/** Long words use the column of the peer too, or a line of their own. */
function line(what, peer, value, target, verdict) {
  const rest = `${value.padStart(VALUE)}  ${target.padEnd(TARGET)}  ${verdict}\n`
  if (what.length < WHAT) return `${what.padEnd(WHAT)}${peer.padEnd(PEER)}${rest}`
  if (peer === '' && what.length < WHAT + PEER) return `${what.padEnd(WHAT + PEER)}${rest}`
  return `${what}\n${' '.repeat(WHAT)}${peer.padEnd(PEER)}${rest}`
}
