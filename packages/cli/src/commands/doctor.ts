import { diagnose, type Finding, type Step } from 'kubecred/diagnose'
import { CODES } from 'kubecred/errors'
import type { Run } from '../command.ts'
import { EXIT } from '../exit-status.ts'
import { connectOptions } from '../flags/connect-options.ts'
import { wantsJson } from '../flags/wants-json.ts'
import { choosePalette } from '../render/colour.ts'
import { findingText } from '../render/finding-text.ts'
import { printableJson } from '../render/printable.ts'
import { withFlagNames } from '../render/with-flag-names.ts'
import { wrapText } from '../render/wrap-text.ts'

const MAX_COLUMNS = 100
const MIN_COLUMNS = 40

/** `doctor`: checks each step of a request and explains what fails. */
export const doctor: Run = async (call) => {
  const isJson = wantsJson(call.flags)
  const { io, flags, signal, log, progress } = call
  const palette = choosePalette(io.isTerminal.stdout, io.env)
  // Lines for a pipe are not wrapped, so that they can be searched.
  const columns =
    io.columns === undefined
      ? Number.POSITIVE_INFINITY
      : Math.max(MIN_COLUMNS, Math.min(io.columns, MAX_COLUMNS))
  const findings: Finding[] = []
  try {
    const looking = diagnose({
      ...connectOptions(flags, io),
      env: io.env,
      signal,
      observer: (event) => {
        progress.observe(event)
        // The standard error of a plugin is part of its finding; with -v it is also shown while it runs.
        if (log.level > 0) log.observe(event)
      },
      onStep: (step) => progress.begin(WAITING[step]),
    })
    for await (const found of looking) {
      progress.end()
      const finding = forProgram(found)
      findings.push(finding)
      if (!isJson) io.stdout.write(findingText(finding, palette, columns))
    }
  } finally {
    progress.end()
  }
  if (isJson)
    io.stdout.write(
      printableJson(`${JSON.stringify({ isHealthy: isHealthy(findings), findings })}\n`),
    )
  else io.stdout.write(`\n${wrapText(verdictOn(findings), columns).join('\n')}\n`)
  return statusOf(findings)
}

/** What each step waits for. */
const WAITING: Readonly<Record<Step, string>> = {
  kubeconfig: 'the kubeconfig files',
  context: 'the kubeconfig files',
  method: 'the user entry',
  policy: 'the plugin policy',
  plugin: 'the folders of PATH',
  credential: 'the credential',
  proxy: 'the CA file',
  network: 'the network',
  tls: 'the TLS handshake with the server',
  identity: "the server's answer",
}

function forProgram(finding: Finding): Finding {
  const { summary, details, remedy } = finding
  return {
    ...finding,
    summary: withFlagNames(summary),
    details: details.map((detail) => withFlagNames(detail)),
    ...(remedy !== undefined && { remedy: withFlagNames(remedy) }),
  }
}

function isHealthy(findings: readonly Finding[]): boolean {
  return findings.every(({ verdict }) => verdict !== 'error')
}

function verdictOn(findings: readonly Finding[]): string {
  const bad = findings.filter(({ verdict }) => verdict === 'error')
  const odd = findings.filter(({ verdict }) => verdict === 'warning')
  if (bad.length > 0) {
    const names = bad.map(({ step }) => step).join(', ')
    return `${bad.length === 1 ? 'One step' : `${bad.length} steps`} failed: ${names}. Fix the first problem, then run doctor again.`
  }
  const last = findings.at(-1)
  const who = last?.step === 'identity' ? ` The server sees you as ${last.summary}.` : ''
  return odd.length > 0 ? 'No step failed; check the lines marked "!".' : `No problems found.${who}`
}

function statusOf(findings: readonly Finding[]): number {
  const first = findings.find(({ verdict }) => verdict === 'error')
  if (first === undefined) return EXIT.done
  const { code } = first
  return code !== undefined && Object.hasOwn(CODES, code) ? CODES[code].exit : EXIT.refused
}
