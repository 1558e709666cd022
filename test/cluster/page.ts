import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const PAGE = fileURLToPath(new URL('../../docs/cluster-suite.md', import.meta.url))

/** Prints a result; with `KUBECRED_WRITE_TABLE=1` also writes it into its section of the page. */
export function show(part: 'table' | 'figures', text: string): void {
  process.stdout.write(`\n${text}\n`)
  if (process.env['KUBECRED_WRITE_TABLE'] !== '1') return
  const [begin, end] = [`<!-- ${part}: begin -->`, `<!-- ${part}: end -->`]
  const [before = '', rest = ''] = readFileSync(PAGE, 'utf8').split(begin)
  const [, after = ''] = rest.split(end)
  writeFileSync(PAGE, `${before}${begin}\n\n${text}\n${end}${after}`)
}
