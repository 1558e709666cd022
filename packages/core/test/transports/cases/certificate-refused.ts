import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IssuedCertificate, Sandbox } from '@kubecred/sandbox'
import { expect } from 'vitest'
import { codesOf } from '../codes-of.ts'
import type { Driver } from '../driver.ts'
import { type RefusingServer, startRefusingServer } from '../refusing-server.ts'
import { Scene } from '../scene.ts'

export async function certificateRefused(driver: Driver): Promise<void> {
  await replaced(driver)
  // With a vault the request waits for one login after another, as after any refusal.
  if (!driver.isOnVault) await refusedForEver(driver)
}

/** The plugin runs again, and the request is sent with the new certificate. */
async function replaced(driver: Driver): Promise<void> {
  await using stage = await Stage.open(driver, ['bad', 'good'])
  expect(await stage.scene.ask('/version')).toEqual({ status: 200, text: 'ok' })
  expect(stage.runs).toBe(2)
}

/** The plugin runs once more, and the error says that the certificate was refused. */
async function refusedForEver(driver: Driver): Promise<void> {
  await using stage = await Stage.open(driver, ['bad', 'bad'])
  const failure = await stage.scene.ask('/version').then(
    ({ status }) => status,
    (error: unknown) => error,
  )
  expect(codesOf(failure)).toContain('ERR_CERTIFICATE_REFUSED')
  expect(stage.runs).toBe(2)
}

/** A server that refuses certificates in the handshake, and a plugin that returns one after the other. */
class Stage implements AsyncDisposable {
  readonly scene: Scene
  readonly #server: RefusingServer

  private constructor(scene: Scene, server: RefusingServer) {
    this.scene = scene
    this.#server = server
  }

  static async open(driver: Driver, answers: readonly ('good' | 'bad')[]): Promise<Stage> {
    let server: RefusingServer | undefined
    const scene = await Scene.open(driver, {
      kubeconfig: async (sandbox) => {
        const { clientCaPem } = sandbox
        const identity = await sandbox.issueCertificate({ user: 'server' })
        server = await startRefusingServer({ ...identity, clientCaPem })
        const certificates = await Promise.all(
          answers.map((kind) =>
            sandbox.issueCertificate({ user: 'jane', untrusted: kind === 'bad' }),
          ),
        )
        const command = writePlugin(sandbox, certificates)
        return { server: server.url, insecureSkipTlsVerify: true, user: { exec: { command } } }
      },
    })
    if (server === undefined) throw new Error('no server')
    return new Stage(scene, server)
  }

  get runs(): number {
    return readFileSync(join(this.scene.sandbox.folder, 'runs'), 'utf8').length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.scene[Symbol.asyncDispose]()
    await this.#server[Symbol.asyncDispose]()
  }
}

/** A plugin whose n-th run returns the n-th certificate. */
function writePlugin({ folder }: Sandbox, certificates: readonly IssuedCertificate[]): string {
  for (const [index, { certificate, key }] of certificates.entries()) {
    const answer = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { clientCertificateData: certificate, clientKeyData: key },
    }
    writeFileSync(join(folder, `answer-${index + 1}`), JSON.stringify(answer))
  }
  const path = join(folder, 'plugin')
  const script = `#!/bin/sh
cd '${folder}' && printf . >> runs && cat "answer-$(wc -c < runs | tr -d ' ')"
`
  writeFileSync(path, script, { mode: 0o700 })
  return path
}
