import { readFileSync } from 'node:fs'
import { notTyped, typedCases } from './all-cases.ts'
import { clientGoCases, notPlayed } from './client-go/all-scripts.ts'
import { type Explained, loadDifferences } from './differences.ts'

interface Listed {
  readonly id: string
  readonly about: string
}

/** Returns the report in docs/compatibility.md, as Markdown. */
export function report(): string {
  const { reasons, kubectl, 'client-go': clientGo } = loadDifferences()
  return `kubectl and client-go are those of Kubernetes ${kubernetesVersion()}.

| beside    | cases | the same | different on purpose | not comparable |
| --------- | ----- | -------- | -------------------- | -------------- |
${countRow('kubectl', typedCases, kubectl, notTyped.length)}
${countRow('client-go', clientGoCases, clientGo, notPlayed.length)}

### Different from kubectl

${table(typedCases, kubectl, reasons)}

### Different from client-go

${table(clientGoCases, clientGo, reasons)}

### Not comparable

${reasonsWhyNot([...notTyped.map(say('kubectl')), ...notPlayed.map(say('client-go'))])}`
}

/** Returns the Kubernetes version of conformance/client-go/go.mod, which is that of the cluster suite. */
export function kubernetesVersion(): string {
  const text = readFileSync(new URL('../client-go/go.mod', import.meta.url), 'utf8')
  return `1${/k8s\.io\/client-go v0(\S+)/.exec(text)?.[1]}`
}

const say =
  (beside: string) =>
  ({ why }: { readonly why: string }) => ({ beside, why })

function countRow(
  beside: string,
  cases: readonly Listed[],
  explained: Readonly<Record<string, Explained>>,
  left: number,
): string {
  const different = Object.keys(explained).length
  const cells = [beside.padEnd(9), String(cases.length).padEnd(5)]
  const counts = [cases.length - different, different, left]
  const widths = [8, 20, 14]
  const rest = counts.map((count, at) => String(count).padEnd(widths[at] ?? 0))
  return `| ${[...cells, ...rest].join(' | ')} |`
}

function table(
  cases: readonly Listed[],
  explained: Readonly<Record<string, Explained>>,
  reasons: Readonly<Record<string, string>>,
): string {
  const rows = cases.flatMap(({ id, about }) => {
    const known = explained[id]
    if (known === undefined) return []
    return [[`\`${id}\``, about, describe(known), reasons[known.because] ?? '']]
  })
  return markdown(['case', 'what is tried', 'theirs → ours', 'why'], rows)
}

function describe({ differs }: Explained): string {
  return Object.entries(differs)
    .map(([aspect, words]) => `${aspect}: ${words}`)
    .join('<br>')
}

function reasonsWhyNot(all: readonly { beside: string; why: string }[]): string {
  const counts = new Map<string, number>()
  for (const { beside, why } of all) {
    const key = `${beside}\n${why}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const rows = [...counts].map(([key, count]) => [...key.split('\n'), String(count)])
  return markdown(['beside', 'why', 'cases'], rows)
}

/** Returns a table with aligned columns, as the formatter expects. */
function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')))]
  const widths = head.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)))
  const rule = widths.map((width) => '-'.repeat(width))
  const [first, ...rest] = lines.map((line) => line.map((cell, at) => cell.padEnd(widths[at] ?? 0)))
  return [first, rule, ...rest].map((cells) => `| ${cells?.join(' | ')} |`).join('\n')
}
