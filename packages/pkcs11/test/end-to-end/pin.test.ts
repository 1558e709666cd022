import { fileURLToPath } from 'node:url'
import type { ConnectOptions } from 'kubecred'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { makePair } from '../../../core/test/fixtures/make-certificates.ts'
import {
  hasScript,
  onTerminal,
  RunningProgram,
} from '../../../core/test/fixtures/running-program.ts'
import { buildGo, type GoBuild, isThere, startGo } from '../../../core/test/tls/other-servers.ts'
import { authority } from '../../../core/test/tls/tls-server.ts'
import { hasSoftHsm, NEEDS, PIN } from '../soft-token.ts'
import { type Server, TokenScene } from './token-scene.ts'

/** The built program; bootstrap builds it before the tests run. */
const CLI = fileURLToPath(new URL('../../../cli/bin/kubecred.cjs', import.meta.url))
const TRANSPORTS: ConnectOptions['transport'][] = [undefined, 'pool', 'https', 'http2']
const QUESTION = /PIN of token "kube" \(serial \w+, slot \d+\): /

let scene: TokenScene
beforeAll(async () => {
  if (!hasSoftHsm) return
  scene = await TokenScene.open()
  await scene.addKey({ type: 'EC:prime256v1', id: '02' }, 'jane')
}, 60_000)
afterEach(() => scene?.disconnect())
afterAll(() => scene?.[Symbol.asyncDispose]())

/** Runs the program in a terminal. */
function atTerminal(command: string, server?: Server): RunningProgram {
  const { library, environment } = scene.hsm.spied
  scene.signer.asked()
  const kubeconfig = scene.writeKubeconfig({ pathLib: library, objectIdHex: '02' }, server)
  const line = `"${process.execPath}" "${CLI}" ${command} --kubeconfig "${kubeconfig}"`
  const env = { ...process.env, ...environment, SHELL: '/bin/sh' }
  return new RunningProgram(...onTerminal(line), { env })
}

const wrongServers = async (): Promise<Server[]> => [
  { url: scene.sandbox.url, caPem: (await makePair()).certificate },
  { url: scene.sandbox.url, caPem: scene.sandbox.caPem, name: 'wrong.example' },
]

describe.skipIf(!hasSoftHsm)(`a server with a wrong certificate (${NEEDS})`, () => {
  it.each(TRANSPORTS)('gets no signature, and no PIN is asked for: %s', async (transport) => {
    for (const server of await wrongServers()) {
      const { cluster, events } = await scene.connect('02', server, { transport })
      const code = 'ERR_SERVER_UNTRUSTED'
      await expect(cluster.fetch('/api')).rejects.toMatchObject({ code })
      expect(scene.signer.asked()).toEqual(['CertificateRequest'])
      const types = new Set(events.map(({ type }) => type))
      for (const type of ['user-prompt', 'signed', 'sign-failed'] as const) {
        expect(types).not.toContain(type)
      }
      expect(scene.hsm.callsOf('C_Login')).toBe(0)
      await scene.disconnect()
    }
  })

  it.skipIf(!hasScript)('does not cause a question at the terminal', async () => {
    for (const server of await wrongServers()) {
      const person = atTerminal('whoami', server)
      const { out, status } = await person.ended()
      expect(status).not.toBe(0)
      expect(out).toMatch(/certificate|altnames/)
      expect(out).not.toContain('PIN of token')
      expect(scene.signer.asked()).toEqual(['CertificateRequest'])
    }
  })
})

describe.skipIf(!hasSoftHsm)('a wrong PIN', () => {
  it.each(TRANSPORTS)('costs one try, however many requests wait: %s', async (transport) => {
    const { cluster } = await scene.connect('02', scene.sandbox, {
      transport,
      pin: '654321',
      // A busy machine may take longer than the default of one second.
      policy: { backoffFirstMs: 60_000, backoffLimitMs: 60_000 },
    })
    const get = () => cluster.fetch('/api').then(String, (error: Error) => error.message)
    const failures = await Promise.all(Array.from({ length: 20 }, get))
    for (const failure of failures) expect(failure).toContain('the PIN is wrong')
    // A later request fails with the same error.
    expect(await get()).toContain('the PIN is wrong')
    const signatures = scene.signer.asked().filter((kind) => kind === 'SignRequest')
    expect(signatures).toHaveLength(1)
    expect(scene.hsm.callsOf('C_Login')).toBe(1)
    expect(scene.hsm.isPinCountLow('kube')).toBe(true)
    // A correct PIN resets the token's counter of failed tries.
    await scene.disconnect()
    const { cluster: right } = await scene.connect('02')
    expect((await right.fetch('/api')).status).toBe(200)
  })
})

const canType = hasSoftHsm && hasScript && isThere('go', 'version')
describe.skipIf(!canType)(
  `a Go server with a short handshake timeout (${NEEDS}, go and script)`,
  () => {
    let build: GoBuild
    beforeAll(() => {
      build = buildGo()
    }, 240_000)
    afterAll(() => build?.[Symbol.dispose]())

    it('is reached when the PIN is typed once, after the first handshake timed out', async () => {
      await using server = await startGo(build, '-ca', scene.clientCa, '-timeout', '2s')
      const url = `https://127.0.0.1:${server.port}`
      const person = atTerminal('fetch /', { url, caPem: authority.ca, name: 'localhost' })
      await person.until('out', QUESTION)
      // The server logs that it has given up.
      while (!/TLS handshake error.*timeout/.test(server.said())) {
        await new Promise((resolve) => server.child.stderr.once('data', resolve))
      }
      person.child.stdin?.write(`${PIN}\r`)
      const { out, status } = await person.ended()
      expect(out).toContain('jane HTTP/1.1 0')
      expect(status).toBe(0)
      expect(out.match(/PIN of token/g)).toHaveLength(1)
      expect(scene.signer.asked()).toEqual(['CertificateRequest', 'SignRequest', 'SignRequest'])
      expect(scene.hsm.callsOf('C_Login')).toBe(1)
    })
  },
)
