import { writeFileSync } from 'node:fs'
import { DIFFERENCES, type Differences, type Explained, loadDifferences } from './differences.ts'
import type { Summary } from './summary.ts'

/** With the value `write`, new differences are added to differences.json, with `?` as the reason to fill in. */
const MODE = process.env['KUBECRED_DIFFERENCES']

/** The differences of this run, to be written on request. */
export class FoundDifferences {
  readonly #side: 'kubectl' | 'client-go'
  readonly #found = new Map<string, Summary>()

  constructor(side: 'kubectl' | 'client-go') {
    this.#side = side
  }

  add(id: string, summary: Summary): void {
    this.#found.set(id, summary)
  }

  /** Keeps known reasons; cases that were not run stay unchanged. */
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
