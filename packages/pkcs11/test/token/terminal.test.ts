import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  hasScript,
  onTerminal,
  RunningProgram,
} from '../../../core/test/fixtures/running-program.ts'
import { hasSoftHsm, PIN, SOFTHSM, SoftHsm } from '../soft-token.ts'
import { isGoodSignature, PROGRAM, signRequest } from '../spawn-signer.ts'

const canRun = hasSoftHsm && hasScript

let hsm: SoftHsm
beforeAll(() => {
  if (!canRun) return
  hsm = new SoftHsm()
  hsm.addToken('kube')
  hsm.addKey('kube', { type: 'EC:prime256v1', id: '02', label: 'p256' })
  hsm.addKey('kube', { type: 'EC:prime256v1', id: '03', label: 'always', alwaysAuthenticate: true })
}, 60_000)
afterAll(() => hsm?.[Symbol.dispose]())

interface AtTerminal {
  readonly running: RunningProgram
  type(after: RegExp, keys: string): Promise<void>
  end(): Promise<{ shown: string; answer: string; status: string; isRestored: boolean }>
}

function atTerminal(
  { args = '', redirect = '', env = {} }: { args?: string; redirect?: string; env?: object },
  objectIdHex = '02',
): AtTerminal {
  const { library, environment } = hsm.spied
  const out = join(hsm.folder, 'answer')
  const look = '[ "$before" = "$(stty -g)" ] && echo restored'
  const run = `"${process.execPath}" "${PROGRAM}" ${args} >"${out}" ${redirect}`
  const command = `before=$(stty -g); ${run}; echo "status=$?"; ${look}`
  const request = signRequest('ecdsa_secp256r1_sha256', { pathLib: library, objectIdHex })
  const running = new RunningProgram(...onTerminal(command), {
    env: {
      ...process.env,
      ...environment,
      SHELL: '/bin/sh',
      EXTERNAL_SIGNER_PLUGIN_CONFIG: JSON.stringify(request),
      ...env,
    },
  })
  return {
    running,
    async type(after, keys) {
      await running.until('out', after)
      running.child.stdin?.write(keys)
    },
    async end() {
      const { out: shown } = await running.ended()
      return {
        shown: shown.replace(/status=[\s\S]*/, ''),
        answer: readFileSync(out, 'utf8'),
        status: /status=(\d+)/.exec(shown)?.[1] ?? '',
        isRestored: /status=\d+\s+restored/.test(shown),
      }
    },
  }
}

const QUESTION = /PIN of token "kube" \(serial \w+, slot \d+\): /

describe.skipIf(!canRun)('at a terminal (needs softhsm2, opensc and script)', () => {
  it.each([
    ['', ''],
    ['even if standard input and error are redirected', '</dev/null 2>/dev/null'],
  ])('the PIN is asked for and not echoed %s', async (_, redirect) => {
    const terminal = atTerminal({ redirect })
    await terminal.type(QUESTION, `${PIN}\r`)
    const { shown, answer, status, isRestored } = await terminal.end()
    expect([status, isRestored]).toEqual(['0', true])
    expect(shown).toMatch(new RegExp(`^${QUESTION.source}\\r\\n$`))
    const { signature } = JSON.parse(answer)
    expect(isGoodSignature('ecdsa_secp256r1_sha256', hsm.publicKey('kube', '02'), signature)).toBe(
      true,
    )
  })

  it('a wrong PIN is tried once, and the next question warns', async () => {
    const terminal = atTerminal({})
    await terminal.type(QUESTION, '654321\r')
    const { shown, status, answer } = await terminal.end()
    expect([status, answer]).toEqual(['1', ''])
    expect(shown).toContain('the PIN is wrong (CKR_PIN_INCORRECT)')
    expect(shown).not.toContain('654321')
    expect(hsm.callsOf('C_Login')).toBe(1)
    const again = atTerminal({})
    await again.type(/\(a wrong PIN was entered; few tries left\): /, `${PIN}\r`)
    expect((await again.end()).status).toBe('0')
  })

  it('the PIN of a key that requires it for every signature is asked for once per signature', async () => {
    const terminal = atTerminal({}, '03')
    await terminal.type(QUESTION, `${PIN}\r`)
    const { shown, status } = await terminal.end()
    expect(status).toBe('0')
    expect(shown.match(/PIN of token/g)).toHaveLength(1)
    expect(hsm.callsOf('C_Login')).toBe(2)
  })

  it.each([
    ['Ctrl-C', '\x03', '130'],
    ['Ctrl-D', '\x04', '1'],
    ['nothing', '\r', '1'],
  ])(
    '%s instead of a PIN does not cost a try and restores the terminal',
    async (_, key, status) => {
      const terminal = atTerminal({})
      await terminal.type(QUESTION, key)
      expect(await terminal.end()).toMatchObject({ status, isRestored: true, answer: '' })
      expect(hsm.callsOf('C_Login')).toBe(0)
    },
  )

  it.each(['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'])(
    '%s during the question restores the terminal',
    async (signal) => {
      const terminal = atTerminal({})
      await terminal.running.until('out', QUESTION)
      const shell = spawnSync('pgrep', ['-P', String(terminal.running.child.pid)])
        .stdout.toString()
        .trim()
      const children = spawnSync('pgrep', ['-P', shell]).stdout.toString().trim()
      process.kill(Number(children.split('\n').at(-1)), signal as NodeJS.Signals)
      const { status, isRestored } = await terminal.end()
      expect(isRestored).toBe(true)
      expect(status).toBe({ SIGTERM: '143', SIGHUP: '129', SIGINT: '130', SIGQUIT: '131' }[signal])
    },
  )

  it('list asks for PINs with --login, and shows the private key', async () => {
    const terminal = atTerminal({ args: `list --login --lib ${SOFTHSM}` })
    await terminal.type(QUESTION, `${PIN}\r`)
    const { answer, status, isRestored } = await terminal.end()
    expect([status, isRestored]).toEqual(['0', true])
    expect(answer).toContain('      key          P-256\n')
  })

  it('list asks for PINs in its child processes', async () => {
    const terminal = atTerminal({ args: 'list --login' })
    await terminal.type(QUESTION, `${PIN}\r`)
    const { answer, status, isRestored } = await terminal.end()
    expect([status, isRestored]).toEqual(['0', true])
    expect(answer).toContain('      key          P-256\n')
  })
})
