import { encodeJson } from '../formats/json.ts'
import { Keeper } from '../keeper/keeper.ts'
import type { SignerConfig } from '../kubeconfig/external-signer-config.ts'
import { DEFAULT_LIFECYCLE, type LifecyclePolicy } from '../lifecycle/policy.ts'
import { nodeTerminal, withFolders } from '../node/environment.ts'
import { nodeCrypto } from '../node/node-crypto.ts'
import { nodePrograms } from '../node/node-programs.ts'
import {
  acquireSharedKeeper,
  processProtocol,
  type SharedKeeper,
} from '../node/process-registry.ts'
import { nodeSignerChannels } from '../node/signer-channels.ts'
import { systemClock } from '../node/system-clock.ts'
import type { Programs } from '../ports/programs.ts'
import type { Terminal } from '../ports/terminal.ts'
import { type ExternalSigner, externalSignerSource } from '../sources/signer-source.ts'
import { VERSION } from '../version.ts'

/** Options of `openSignerKeeper()`. */
export interface SignerKeeperOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** By default the terminal of this process. */
  readonly terminal?: Terminal
  /** Folders to search before PATH; the signer has them at the end of its PATH. */
  readonly folders: readonly string[] | undefined
  readonly lifecycle: Partial<LifecyclePolicy>
  /** What else makes two keepers different. It may hold secrets. */
  readonly identity: unknown
}

/**
 * Opens the keeper of an external signer, which all connections of this process with the same signer and the same
 * options share. Connections with other options have another keeper, but take turns at the device.
 */
export async function openSignerKeeper(
  signer: ExternalSigner,
  { env, terminal = nodeTerminal, folders, lifecycle, identity }: SignerKeeperOptions,
): Promise<SharedKeeper> {
  const { config, ...how } = signer
  const programs = nodePrograms(env, folders)
  const device = nodeCrypto.digest(encodeJson(['signer', await describeDevice(config, programs)]))
  const line = `${VERSION} signer ${device}`
  return acquireSharedKeeper(
    nodeCrypto.digest(encodeJson(['signer keeper', device, how, lifecycle, identity])),
    () => {
      const source = externalSignerSource(
        signer,
        {
          programs,
          channels: nodeSignerChannels,
          terminal,
          crypto: nodeCrypto,
          clock: systemClock,
          hostEnv: () => withFolders(env, folders),
          turns: { take: (signal) => processProtocol().takeLock(line, signal) },
          policy: { ...DEFAULT_LIFECYCLE, ...lifecycle },
        },
        device,
      )
      return new Keeper(source, { crypto: nodeCrypto, clock: systemClock }, lifecycle)
    },
  )
}

/** Describes a signer by its parameters and its location. A program is identified by its file, not by its name. */
async function describeDevice(
  { at, protocol, parameters }: SignerConfig,
  programs: Programs,
): Promise<unknown> {
  const sorted = [...parameters].sort(([a], [b]) => (a < b ? -1 : 1))
  const values = sorted.map(([name, value]) => [name, value.expose()])
  if (at.kind !== 'program') return [at, protocol, values]
  const located = await programs.locate(at.command)
  return [at, located.is === 'found' ? located.realPath : undefined, protocol, values]
}
