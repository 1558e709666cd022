import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'kubecred'
import { survey } from 'kubecred/diagnose'
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

const WIDE = 120
const LOOK_AGAIN_MS = 1000

/** `status`: every context with its source, its state and the time left. */
export const status: Run = async (call) => {
  const isJson = wantsJson(call.flags)
  const { io, flags, signal } = call
  const palette = choosePalette(io.isTerminal.stdout, io.env)
  const columns = io.columns ?? WIDE
  const show = (rows: readonly ContextStatus[]): string =>
    isJson
      ? printableJson(`${JSON.stringify({ contexts: rows })}\n`)
      : statusTable(rows, palette, { now: io.now(), columns })
  call.patience.begin('the kubeconfig files and the agent')
  let rows = await look(call)
  if (flags.isOn('run')) rows = await runAll(call, rows)
  call.patience.end()
  io.stdout.write(show(rows))
  if (!flags.isOn('watch')) return EXIT.done
  let last = show(rows)
  for (;;) {
    await sleep(LOOK_AGAIN_MS, undefined, { signal }).catch(() => {
      throw signal.reason
    })
    const next = show(merge(await look(call), rows))
    if (next === last) continue
    const up = last.split('\n').length - 1
    // On a terminal the table stays where it is; a pipe gets every state of it.
    io.stdout.write(io.isTerminal.stdout && !isJson ? `\u001b[${up}A\u001b[0J${next}` : next)
    last = next
  }
}

/** What the files say, and what a running agent knows beside them. */
async function look({ flags, io }: Call): Promise<ContextStatus[]> {
  const options = { kubeconfig: flags.text('kubeconfig'), env: io.env }
  const rows = await survey(options)
  const isShared = rows.some(({ source }) => source?.kind === 'exec' && isWrapped(source.name))
  // It reads the files again, and a file may have ten thousand contexts.
  if (!isShared) return rows
  const seen = await agentView(options, io.now())
  return rows.map((row) => (row.state === 'unknown' ? { ...row, ...seen.get(row.context) } : row))
}

/** What a run has told stays, as long as the context has the same source. */
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

/** Fetches what only a plugin or an issuer can tell; how many run at once, the library limits. */
function runAll(call: Call, rows: readonly ContextStatus[]): Promise<ContextStatus[]> {
  const waiting = new Set(rows.filter(({ state }) => state === 'unknown'))
  const since = performance.now()
  const tell = (): void => call.patience.begin(describeWaiting([...waiting]), since)
  tell()
  return Promise.all(
    rows.map(async (row) => {
      if (!waiting.has(row)) return row
      const told = await runOne(call, row)
      waiting.delete(row)
      tell()
      return told
    }),
  )
}

/** How many are left, and one of them by name: the one that has waited longest. */
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
      // Several at once cannot all ask the same person.
      stdinUnavailable: 'used by kubecred status',
    })
    try {
      const { expiresAt } = await cluster.credential({ signal })
      const ran = { ranAt: io.now(), tookMs: io.now() - startedAt }
      const isOver = expiresAt !== undefined && expiresAt <= io.now()
      return {
        ...row,
        ...ran,
        state: isOver ? 'expired' : 'valid',
        ...(expiresAt !== undefined && { expiresAt }),
      }
    } finally {
      await cluster.close()
    }
  } catch (error) {
    signal.throwIfAborted()
    const message = withFlagNames(error instanceof Error ? error.message : String(error))
    const hint = isCredentialError(error) ? { hint: withFlagNames(error.hint) } : {}
    return { ...row, state: 'broken', problem: { message, ...hint } }
  }
}
