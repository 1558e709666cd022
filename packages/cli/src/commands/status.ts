import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'kubecred'
import { inspectContexts } from 'kubecred/diagnose'
import { isCredentialError } from 'kubecred/errors'
import { agentView } from '../agent/agent-view.ts'
import type { Call, Run } from '../command.ts'
import { EXIT } from '../exit-status.ts'
import { connectOptions } from '../flags/connect-options.ts'
import { wantsJson } from '../flags/wants-json.ts'
import { choosePalette } from '../render/colour.ts'
import { quote } from '../render/describe-source.ts'
import { printableJson } from '../render/printable.ts'
import { type ContextStatus, statusTable } from '../render/status-table.ts'
import { withFlagNames } from '../render/with-flag-names.ts'
import { isWrapped } from '../wrap/plan.ts'

const DEFAULT_COLUMNS = 120
const INTERVAL_MS = 1000

/** `status`: shows every context with the source, state and expiry of its credential. */
export const status: Run = async (call) => {
  const isJson = wantsJson(call.flags)
  const { io, flags, signal } = call
  const palette = choosePalette(io.isTerminal.stdout, io.env)
  const columns = io.columns ?? DEFAULT_COLUMNS
  const show = (rows: readonly ContextStatus[]): string =>
    isJson
      ? printableJson(`${JSON.stringify({ contexts: rows })}\n`)
      : statusTable(rows, palette, { now: io.now(), columns })
  call.progress.begin('the kubeconfig files and the agent')
  let rows = await look(call)
  if (flags.isOn('run')) rows = await runAll(call, rows)
  call.progress.end()
  io.stdout.write(show(rows))
  if (!flags.isOn('watch')) return EXIT.done
  let last = show(rows)
  for (;;) {
    await sleep(INTERVAL_MS, undefined, { signal }).catch(() => {
      throw signal.reason
    })
    const next = show(merge(await look(call), rows))
    if (next === last) continue
    const up = last.split('\n').length - 1
    // On a terminal the table is rewritten in place; a pipe gets each version of it.
    io.stdout.write(io.isTerminal.stdout && !isJson ? `\u001b[${up}A\u001b[0J${next}` : next)
    last = next
  }
}

/** Reads the files, and asks a running agent about the contexts that use kubecred-token. */
async function look({ flags, io }: Call): Promise<ContextStatus[]> {
  const options = { kubeconfig: flags.text('kubeconfig'), env: io.env }
  const rows = await inspectContexts(options)
  const isShared = rows.some(({ source }) => source?.kind === 'exec' && isWrapped(source.name))
  // agentView() reads the files again, and a file may have ten thousand contexts.
  if (!isShared) return rows
  const seen = await agentView(options, io.now())
  return rows.map((row) => (row.state === 'unknown' ? { ...row, ...seen.get(row.context) } : row))
}

/** Keeps the result of a run as long as the context has the same source. */
function merge(
  fresh: readonly ContextStatus[],
  known: readonly ContextStatus[],
): readonly ContextStatus[] {
  const byContext = new Map(known.map((row) => [row.context, row]))
  return fresh.map((row) => {
    const before = byContext.get(row.context)
    const isSame = before?.source?.name === row.source?.name && row.state === 'unknown'
    return isSame && before !== undefined ? { ...before, isCurrent: row.isCurrent } : row
  })
}

/** Fetches the credentials of plugins and issuers. The library limits how many run at once. */
function runAll(call: Call, rows: readonly ContextStatus[]): Promise<ContextStatus[]> {
  const waiting = new Set(rows.filter(({ state }) => state === 'unknown'))
  const since = performance.now()
  const showWaiting = (): void => call.progress.begin(describeWaiting([...waiting]), since)
  showWaiting()
  return Promise.all(
    rows.map(async (row) => {
      if (!waiting.has(row)) return row
      const result = await runOne(call, row)
      waiting.delete(row)
      showWaiting()
      return result
    }),
  )
}

/** Describes how many are left, with the name of the one that has waited longest. */
function describeWaiting([first, ...others]: readonly ContextStatus[]): string {
  if (first === undefined) return 'nothing'
  const name = `context ${quote(first.context)}`
  return others.length === 0 ? name : `${others.length + 1} contexts, first ${name}`
}

async function runOne({ flags, io, signal }: Call, row: ContextStatus): Promise<ContextStatus> {
  const startedAt = io.now()
  try {
    const cluster = await connect({
      ...connectOptions(flags, io),
      context: row.context,
      env: io.env,
      transport: 'https',
      signal,
      // Several plugins run at once and cannot share the terminal.
      stdinUnavailable: 'used by kubecred status',
    })
    try {
      const { expiresAt } = await cluster.credential({ signal })
      const ran = { ranAt: io.now(), tookMs: io.now() - startedAt }
      if (expiresAt === undefined) return { ...row, ...ran, state: 'unchecked' }
      return { ...row, ...ran, state: expiresAt <= io.now() ? 'expired' : 'valid', expiresAt }
    } finally {
      await cluster.close()
    }
  } catch (error) {
    signal.throwIfAborted()
    const message = withFlagNames(error instanceof Error ? error.message : String(error))
    const hint = isCredentialError(error) ? { hint: withFlagNames(error.hint) } : {}
    const login = isCredentialError(error) && 'loginCommand' in error && error.loginCommand
    const problem = { message, ...hint }
    return { ...row, state: 'invalid', problem, ...(login && { loginCommand: login }) }
  }
}
