// A Markdown table with its columns aligned, as the formatters of editors write it.

/** @param rows The head and the lines, each a list of cells. */
export function markdownTable([head, ...lines]) {
  const rows = [head, ...lines.map((line) => line.map(escapeCell))]
  const widths = head.map((_, at) => Math.max(...rows.map((row) => row[at].length)))
  const rule = widths.map((width) => '-'.repeat(width))
  const write = (row) => `| ${row.map((cell, at) => cell.padEnd(widths[at])).join(' | ')} |\n`
  return [rows[0], rule, ...rows.slice(1)].map(write).join('')
}

function escapeCell(cell) {
  return cell.replaceAll('|', '\\|')
}
