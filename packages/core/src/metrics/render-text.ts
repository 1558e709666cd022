import type { MetricFamily, Sample } from './family.ts'

/** Writes metrics in Prometheus' text format, version 0.0.4. */
export function renderText(families: readonly MetricFamily[]): string {
  return families.map(renderFamily).join('\n')
}

function renderFamily({ name, help, type, samples }: MetricFamily): string {
  const lines = [`# HELP ${name} ${escapeText(help)}`, `# TYPE ${name} ${type}`]
  return [...lines, ...samples.map(renderSample), ''].join('\n')
}

function renderSample({ name, labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`)
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${renderNumber(value)}`
}

/** The format writes numbers as Go does, which differs from JavaScript where they have no end. */
function renderNumber(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value)
  return value > 0 ? '+Inf' : '-Inf'
}

function escapeText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function escapeLabel(text: string): string {
  return escapeText(text).replaceAll('"', '\\"')
}
