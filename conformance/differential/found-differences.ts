import { writeFileSync } from 'node:fs'
import { DIFFERENCES, type Differences, type Explained, loadDifferences } from './differences.ts'
import type { Summary } from './summary.ts'

/** Set to `write`, new differences are written down, with a `?` where somebody must say why. */
const MODE = process.env['KUBECRED_DIFFERENCES']

/** What was found in this run, to be written down if somebody wants it. */
export class FoundDifferences {
  readonly #side: 'kubectl' | 'client-go'
  readonly #found = new Map<string, Summary>()

  constructor(side: 'kubectl' | 'client-go') {
    this.#side = side
  }

  add(id: string, summary: Summary): void {
    this.#found.set(id, summary)
  }

  /** Keeps the reasons that are known; cases that were not run stay as they are. */
  save(): void {
    if (MODE !== 'write') return
    const known = loadDifferences()
    const own = new Map(Object.entries(known[this.#side]))
    for (const [id, differs] of this.#found) {
      const because = own.get(id)?.because ?? '?'
      if (Object.keys(differs).length === 0) own.delete(id)
      else own.set(id, { differs, because })
    }
    const sorted = [...own].sort(([a], [b]) => a.localeCompare(b))
    const next: Differences = { ...known, [this.#side]: Object.fromEntries<Explained>(sorted) }
    writeFileSync(DIFFERENCES, `${JSON.stringify(next, null, 2)}\n`)
  }
}
