import { mkdtempSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type ExecInfo, encodeExecInfo } from '../../../src/plugin/exec-info.ts'
import { type Ended, RunningProgram } from '../../fixtures/running-program.ts'

/** The URL of the built kit, for plugins in any folder. */
const KIT = pathToFileURL(createRequire(import.meta.url).resolve('kubecred/plugin')).href

export const V1 = 'client.authentication.k8s.io/v1'
export const INFO = encodeExecInfo({ apiVersion: V1, interactive: false })

const folder = mkdtempSync(join(tmpdir(), 'kubecred-kit-'))
let written = 0

/** Writes a plugin to a new file, in which `kubecred/plugin` is the built kit. */
export function writePlugin(source: string): string {
  written += 1
  const path = join(folder, `plugin-${written}.mjs`)
  writeFileSync(path, source.replaceAll("'kubecred/plugin'", JSON.stringify(KIT)))
  return path
}

/** Writes a plugin whose function has the given body. */
export function pluginWith(body: string, before = ''): string {
  return writePlugin(`import { runPlugin } from 'kubecred/plugin'
${before}
await runPlugin(async ({ apiVersion, cluster, interactive, response, signal, prompt, clusterFetch }) => {
${body}
})`)
}

export type Environment = Readonly<Record<string, string | undefined>>

export function startPlugin(path: string, env: Environment = {}): RunningProgram {
  return new RunningProgram(process.execPath, [path], {
    env: { ...process.env, KUBERNETES_EXEC_INFO: INFO, ...env },
  })
}

export function runPath(path: string, env?: Environment): Promise<Ended> {
  const plugin = startPlugin(path, env)
  plugin.child.stdin?.end()
  return plugin.ended()
}

/** Runs a plugin whose function has the given body, with the given input. */
export function runBody(body: string, info: Partial<ExecInfo> = {}): Promise<Ended> {
  const input = encodeExecInfo({ apiVersion: V1, interactive: false, ...info })
  return runPath(pluginWith(body), { KUBERNETES_EXEC_INFO: input })
}
