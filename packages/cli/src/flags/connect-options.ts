import { accessSync, constants, statSync } from 'node:fs'
import type { ConnectOptions } from 'kubecred'
import {
  CLUSTER_FIELDS,
  type Field,
  type FieldTable,
  type OptionsOf,
  USER_FIELDS,
} from 'kubecred/internal'
import type { Io } from '../command.ts'
import { UsageError } from '../usage-error.ts'
import { type FlagName, isFlagName } from './flag-table.ts'
import type { FlagValues } from './flag-values.ts'
import { pluginPolicy } from './plugin-policy.ts'

/** Converts the global flags into the options of `connect()`. */
export function connectOptions(
  flags: FlagValues,
  io: Pick<Io, 'env' | 'isTerminal'>,
): ConnectOptions {
  return {
    kubeconfig: flags.text('kubeconfig'),
    kuberc: flags.text('kuberc'),
    context: flags.text('context'),
    cluster: flags.text('cluster'),
    user: flags.text('user'),
    namespace: flags.text('namespace'),
    ...fieldOptions(CLUSTER_FIELDS, flags),
    ...fieldOptions(USER_FIELDS, flags),
    saveOidcTokens: flags.isOn('save-oidc-tokens'),
    policy: pluginPolicy(flags, io),
  }
}

/** Returns the options for the kubeconfig fields that have a flag. */
function fieldOptions<T extends FieldTable>(table: T, flags: FlagValues): OptionsOf<T> {
  const options = Object.entries<Field>(table).flatMap(([name, { key, kind, flag = key }]) => {
    return isFlagName(flag) ? [[name, readFlag(kind, flags, flag)]] : []
  })
  return Object.fromEntries(options)
}

function readFlag(kind: Field['kind'], flags: FlagValues, name: FlagName): unknown {
  switch (kind) {
    case 'boolean':
      return flags.isOn(name)
    case 'list':
      return flags.list(name)
    case 'map':
      return readExtra(flags.list(name))
    case 'path':
      return readableFile(flags, name)
    default:
      return flags.text(name)
  }
}

/** Checked here so that the message names the flag: later it is a file like any other in the kubeconfig. */
function readableFile(flags: FlagValues, name: FlagName): string | undefined {
  const path = flags.text(name)
  if (path === undefined) return undefined
  try {
    if (statSync(path).isDirectory()) throw new Error('it is a folder')
    accessSync(path, constants.R_OK)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const reason = REASONS[code ?? ''] ?? message
    throw new UsageError(`flag --${name}: cannot read ${JSON.stringify(path)}: ${reason}`)
  }
  return path
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'permission denied',
}

function readExtra(pairs: readonly string[]): Record<string, string[]> {
  const extra = new Map<string, string[]>()
  for (const pair of pairs) {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? []
    if (key === undefined || value === undefined) {
      throw new UsageError(`flag --as-user-extra takes KEY=VALUE, not ${JSON.stringify(pair)}`)
    }
    extra.set(key, [...(extra.get(key) ?? []), value])
  }
  return Object.fromEntries(extra)
}
