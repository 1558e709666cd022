import { resolve } from 'node:path'
import process from 'node:process'
import { isCredentialError } from 'kubecred/errors'
import { exhaustedError, NotSupportedError } from 'kubecred/internal'
import { confirm } from '../agent/confirm.ts'
import { findPlugin } from '../agent/find-plugin.ts'
import type { Call, Run } from '../command.ts'
import { tokenProgram } from '../executable/own-program.ts'
import { EXIT } from '../exit-status.ts'
import { parseDuration } from '../flags/duration.ts'
import { readPluginEnv, readPluginTimeout } from '../flags/plugin-settings.ts'
import { printableLine } from '../render/printable.ts'
import { UsageError } from '../usage-error.ts'
import { applyWrap } from '../wrap/apply.ts'
import { planUnwrap, planWrap, type WrapPlan } from '../wrap/plan.ts'

/** `wrap [CONTEXT]`: makes a context use kubecred-token for its plugin, or undoes that. */
export const wrap: Run = async (call) => {
  const { flags, io, stderr } = call
  call.progress.begin('the kubeconfig files')
  const plan = await makePlan(call)
  call.progress.end()
  stderr.line(`user "${printableLine(plan.user)}" in ${printableLine(plan.file)}:`)
  stderr.line(stderr.palette.red(`- ${printableLine(plan.before)}`))
  stderr.line(stderr.palette.green(`+ ${printableLine(plan.after)}`))
  if (!flags.isOn('yes') && !(await confirm('Apply this change?', io))) {
    stderr.line('Nothing was changed.')
    return EXIT.refused
  }
  call.progress.begin(`the file ${plan.file}`)
  const { backup } = await applyWrap(plan).catch((cause: unknown) => {
    throw explainUnchanged(plan, cause)
  })
  call.progress.end()
  stderr.line(backup === undefined ? 'Done.' : `Done. The original file: ${printableLine(backup)}`)
  return EXIT.done
}

/** Returns the error for a file that cannot be edited or written. Messages of the YAML editor never quote the file. */
function explainUnchanged({ file }: WrapPlan, cause: unknown): unknown {
  const isBug = cause instanceof TypeError || cause instanceof RangeError
  if (isBug || isCredentialError(cause) || exhaustedError(cause) !== undefined) return cause
  const { message } = cause as Error
  return new NotSupportedError(`${JSON.stringify(file)} cannot be changed: ${message}`, {
    hint: 'Change command and args of the user by hand, and keep the old ones after "--".',
    cause,
  })
}

async function makePlan({ args, flags, io }: Call): Promise<WrapPlan> {
  const options = {
    kubeconfig: flags.text('kubeconfig'),
    context: args[0] ?? flags.text('context'),
    env: io.env,
  }
  const isUndo = flags.isOn('undo') === true
  const own = ownFlags(flags)
  if (!isUndo && process.platform === 'win32') {
    throw new NotSupportedError('wrap has no use on Windows, where there is no agent', {
      hint: 'Leave the kubeconfig as it is: kubecred-token would run the plugin each time.',
    })
  }
  if (!isUndo) return planWrap({ ...options, program: await findProgram(io.env), flags: own })
  if (own.length > 0)
    throw new UsageError(
      '--undo cannot be combined with --ttl, --depends-on, --plugin-timeout or --plugin-env',
      'wrap',
    )
  return planUnwrap(options)
}

function ownFlags(flags: Call['flags']): string[] {
  const ttl = flags.text('ttl')
  if (ttl !== undefined && !parseDuration(ttl)) {
    throw new UsageError(`flag --ttl takes a time such as 10m, not ${JSON.stringify(ttl)}`, 'wrap')
  }
  const limit = flags.text('plugin-timeout')
  const names = flags.text('plugin-env')
  if (limit !== undefined) readPluginTimeout(limit, 'flag --plugin-timeout')
  if (names !== undefined) readPluginEnv(names, 'flag --plugin-env')
  return [
    ...(ttl === undefined ? [] : [`--ttl=${ttl}`]),
    ...flags.list('depends-on').map((file) => `--depends-on=${resolve(file)}`),
    ...(limit === undefined ? [] : [`--plugin-timeout=${limit}`]),
    ...(names === undefined ? [] : [`--plugin-env=${names}`]),
  ]
}

/**
 * Returns the plain name if it is in PATH, else the full path, so that clients find the program.
 *
 * @throws {UsageError} If the link to the single executable is missing.
 */
async function findProgram(env: Call['io']['env']): Promise<string> {
  const name = 'kubecred-token'
  const isFound = await findPlugin(name, env).then(
    () => true,
    () => false,
  )
  const path = isFound ? name : tokenProgram()
  if (path !== undefined) return path
  throw new UsageError(
    `${name} was not found; put a link with that name beside ${process.execPath}`,
    'wrap',
  )
}
