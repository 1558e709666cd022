import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { type Ended, RunningProgram } from '../../fixtures/running-program.ts'
import type { Environment } from '../../plugin/kit/spawn-plugin.ts'

/** The URL of the built kit, for signers in any folder. */
const KIT = pathToFileURL(createRequire(import.meta.url).resolve('kubecred/signer')).href
export const VERSION = 'external-signer.authentication.k8s.io/v1alpha1'

const folder = mkdtempSync(join(tmpdir(), 'kubecred-signer-kit-'))
let written = 0

/** Writes a program to a new file, in which `kubecred/signer` is the built kit. */
export function writeProgram(source: string): string {
  written += 1
  const path = join(folder, `signer-${written}.mjs`)
  writeFileSync(path, source.replaceAll("'kubecred/signer'", JSON.stringify(KIT)))
  return path
}

/** Writes a signer whose handlers have the given bodies. */
export function signerWith({
  certificate = "throw new Error('no certificate here')",
  sign = "return Buffer.from('signature')",
  options = '{}',
  before = '',
}): string {
  return writeProgram(`import { runSigner } from 'kubecred/signer'
${before}
await runSigner({
  certificate: async ({ configuration, notify, prompt, signal }) => { ${certificate} },
  sign: async ({ digest, message, scheme, configuration, notify, prompt, signal }) => { ${sign} },
}, ${options})`)
}

export type Request = Readonly<Record<string, unknown>>

/** A request for a certificate. */
export const certificateRequest = (configuration: Request = {}): Request => ({
  apiVersion: VERSION,
  kind: 'CertificateRequest',
  configuration,
})

export const DIGEST = 'TqRUvJjLvlp3g9B3elpfzfgrSbukXBP5txkBLIkCSs4='

/** The example request of the specification. */
export const signRequest = (more: Request = {}): Request => ({
  apiVersion: VERSION,
  kind: 'SignRequest',
  digest: DIGEST,
  configuration: { objectId: '2', pin: '123456' },
  signerOptsType: '*rsa.PSSOptions',
  signerOpts: '{"SaltLength":-1,"Hash":5}',
  ...more,
})

/** Starts a signer with one request, as other clients do. */
export function startSigner(path: string, request: unknown, env: Environment = {}): RunningProgram {
  const text = typeof request === 'string' ? request : JSON.stringify(request)
  return new RunningProgram(process.execPath, [path], {
    env: { ...process.env, EXTERNAL_SIGNER_PLUGIN_CONFIG: text, ...env },
  })
}

export function runSigner(path: string, request: unknown, env: Environment = {}): Promise<Ended> {
  return startSigner(path, request, env).ended()
}

export interface LongRunning {
  readonly signer: RunningProgram
  readonly requests: Writable
  /** The answers so far, parsed. */
  answers(): Request[]
  /** Waits until there are this many. */
  until(count: number): Promise<Request[]>
}

/** Starts a signer as kubecred does, with descriptor 3 for further requests. */
export function startLongRunning(
  path: string,
  request: unknown,
  env: Environment = {},
): LongRunning {
  const signer = new RunningProgram(process.execPath, [path], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    env: {
      ...process.env,
      EXTERNAL_SIGNER_PLUGIN_CONFIG: JSON.stringify(request),
      KUBECRED_SIGNER_FD: '3',
      ...env,
    },
  })
  const answers = (): Request[] =>
    signer.out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  return {
    signer,
    requests: descriptor(signer.child, 3),
    answers,
    async until(count) {
      await signer.until('out', new RegExp(`(?:[^\\n]*\\n){${count}}`))
      return answers()
    },
  }
}

function descriptor(child: ChildProcess, at: number): Writable {
  const stream = child.stdio[at] as Writable
  // In some tests the signer ends before the last request is written.
  stream.on('error', () => {})
  return stream
}

/** One request as a line. */
export const asLine = (request: unknown): string => `${JSON.stringify(request)}\n`
