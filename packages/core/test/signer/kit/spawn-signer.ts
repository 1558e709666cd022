import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { type Ended, RunningProgram } from '../../fixtures/running-program.ts'
import type { Environment } from '../../plugin/kit/spawn-plugin.ts'

/** Where a signer of any folder finds the built kit; bootstrap builds it before the tests run. */
const KIT = pathToFileURL(createRequire(import.meta.url).resolve('kubecred/signer')).href
export const VERSION = 'external-signer.authentication.k8s.io/v1alpha1'

const folder = mkdtempSync(join(tmpdir(), 'kubecred-signer-kit-'))
let written = 0

/** Writes a program to a file of its own. `kubecred/signer` is the built kit. */
export function writeProgram(source: string): string {
  written += 1
  const path = join(folder, `signer-${written}.mjs`)
  writeFileSync(path, source.replaceAll("'kubecred/signer'", JSON.stringify(KIT)))
  return path
}

/** A signer around the bodies of its two functions. */
export function signerWith({
  certificate = "throw new Error('no certificate here')",
  sign = "return Buffer.from('signature')",
  options = '{}',
  before = '',
}): string {
  return writeProgram(`import { runSigner } from 'kubecred/signer'
${before}
await runSigner({
  certificate: async ({ configuration, prompt, ask, signal }) => { ${certificate} },
  sign: async ({ digest, message, scheme, configuration, prompt, ask, signal }) => { ${sign} },
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

/** The request that stands in the specification. */
export const signRequest = (more: Request = {}): Request => ({
  apiVersion: VERSION,
  kind: 'SignRequest',
  digest: DIGEST,
  configuration: { objectId: '2', pin: '123456' },
  signerOptsType: '*rsa.PSSOptions',
  signerOpts: '{"SaltLength":-1,"Hash":5}',
  ...more,
})

/** Starts a signer with one request, as every client does. */
export function startSigner(path: string, request: unknown, env: Environment = {}): RunningProgram {
  const text = typeof request === 'string' ? request : JSON.stringify(request)
  return new RunningProgram(process.execPath, [path], {
    env: { ...process.env, EXTERNAL_SIGNER_PLUGIN_CONFIG: text, ...env },
  })
}

export function runSigner(path: string, request: unknown, env: Environment = {}): Promise<Ended> {
  return startSigner(path, request, env).ended()
}

export interface Staying {
  readonly signer: RunningProgram
  readonly requests: Writable
  /** The answers so far, parsed. */
  answers(): Request[]
  /** Waits until there are so many. */
  until(count: number): Promise<Request[]>
}

/** Starts a signer as our client does: further requests go through descriptor 3. */
export function startStaying(path: string, request: unknown, env: Environment = {}): Staying {
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
  // The signer may be gone before the last request is: that is what some tests are about.
  stream.on('error', () => {})
  return stream
}

/** One request as a line. */
export const asLine = (request: unknown): string => `${JSON.stringify(request)}\n`
