import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

interface ExtraPackages {
  findRuntime(name: string): string | undefined
}

const { findRuntime }: ExtraPackages = await import(
  new URL('../../../../tools/extra-packages.mjs', import.meta.url).href
)
const SCRIPT = fileURLToPath(new URL('ask-version.mjs', import.meta.url))
const RUNTIMES = { bun: ['run'], deno: ['run', '--allow-all'] }

let sandbox: Sandbox
let kubeconfig: string
beforeAll(async () => {
  sandbox = await startSandbox()
  const exec = await sandbox.plugin({ user: 'jane' })
  kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
})
afterAll(() => sandbox.close())

/** Runs a program that requests the version over a transport, and returns what it prints. */
async function ask(runtime: keyof typeof RUNTIMES, transport: string): Promise<string> {
  const args = [...RUNTIMES[runtime], SCRIPT, kubeconfig, transport]
  const { stdout } = await promisify(execFile)(findRuntime(runtime) ?? runtime, args)
  return stdout.trim()
}

const EXPECTED = {
  bun: {
    default: '200',
    https: '200',
    http2: '200',
    pool: `ERR_NOT_SUPPORTED the transport 'pool' needs undici, which Bun replaces with its own`,
  },
  deno: {
    default: '200',
    https: '200',
    http2: 'ERR_NOT_SUPPORTED HTTP/2 is not supported under Deno',
    pool: '200',
  },
}

for (const [runtime, transports] of Object.entries(EXPECTED)) {
  const isHere = findRuntime(runtime) !== undefined
  const title = isHere ? runtime : `${runtime} is not here: KUBECRED_INSTALL=1 npm run test:long`
  describe.skipIf(!isHere)(title, () => {
    it.each(Object.entries(transports))('transport: %s', async (transport, expected) => {
      expect(await ask(runtime as keyof typeof RUNTIMES, transport)).toBe(expected)
    })
  })
}
