import { chmodSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { type KubeconfigUser, type Sandbox, startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { openWebSocket } from 'kubecred/ws'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { Served } from '../proxy/proxy-process.ts'
import { Home } from '../run/home.ts'
import { runFake } from '../run-fake.ts'
import { type Heard, writeDown } from './channels.ts'
import { startEchoServer } from './echo-server.ts'

/** Unlike the format of any token, so that no pattern can hide it. */
const MARK = 'canary-Hk3Vd8Qp5Ws1'
const HOW = ['person', 'garbage', 'torn', '200', '302', '400', '401', '403', '404', '500']
const LEVELS = ['-v=0', '-v=1', '-v=2', '-v=9']
const EXEC_INFO = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential' }

let sandbox: Sandbox
let server: Awaited<ReturnType<typeof startEchoServer>>

beforeAll(async () => {
  sandbox = await startSandbox()
  server = await startEchoServer(await sandbox.issueCertificate({ user: 'server' }))
})
afterAll(async () => {
  server.close()
  await sandbox.close()
})

const USERS: Readonly<Record<string, () => KubeconfigUser | object>> = {
  'a token': () => ({ token: `${MARK}+/token` }),
  'a password': () => ({ username: 'bob', password: `${MARK} &% "password"` }),
  'a plugin': () => {
    const path = join(sandbox.folder, 'plugin')
    const answer = JSON.stringify({ ...EXEC_INFO, status: { token: `${MARK}_plugin` } })
    writeFileSync(path, `#!/bin/sh\necho '${answer}'\n`)
    chmodSync(path, 0o700)
    return { exec: { apiVersion: EXEC_INFO.apiVersion, command: path, interactiveMode: 'Never' } }
  },
}

let count = 0
function writeKubeconfig(user: object, how: string): string {
  count += 1
  const path = join(sandbox.folder, `echo-${count}`)
  const cluster = { server: `${server.url}/${how}`, 'insecure-skip-tls-verify': true }
  const content = {
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
  writeFileSync(path, JSON.stringify(content))
  return path
}

/** Returns a text with its percent-encoded and base64 parts decoded. */
function readings(text: string): string[] {
  const percent = text.replace(/%([\da-f]{2})/gi, (_, hex) =>
    String.fromCharCode(parseInt(hex, 16)),
  )
  const decoded = [text, percent].flatMap((each) =>
    (each.match(/[\w+/-]{12,}/g) ?? []).flatMap((run) =>
      [0, 1, 2, 3].map((begin) => Buffer.from(run.slice(begin), 'base64').toString('latin1')),
    ),
  )
  return [text, percent, ...decoded]
}

const leaks = (heard: readonly Heard[]): string[] =>
  heard.flatMap(({ channel, text }) => {
    const found = readings(text).find((each) => each.includes(MARK))
    if (found === undefined) return []
    const at = found.indexOf(MARK)
    return [`${channel}: ${found.slice(Math.max(0, at - 60), at + 60)}`]
  })

/** Every command that connects, and whether its standard output is the response or the credential itself. */
const COMMANDS: { readonly argv: readonly string[]; readonly isBody?: true }[] = [
  { argv: ['fetch', '/api'], isBody: true },
  { argv: ['fetch', '/api', '-H', `Authorization: Bearer ${MARK}.own`], isBody: true },
  { argv: ['fetch', '/api', '-i', '-X', 'HEAD'] },
  { argv: ['whoami'] },
  { argv: ['whoami', '-o', 'json'] },
  { argv: ['doctor'] },
  { argv: ['doctor', '-o', 'json'] },
  { argv: ['status', '--run'] },
  { argv: ['token'], isBody: true },
]

const COMMAND = fileURLToPath(new URL('../fixtures/ask-and-watch.mjs', import.meta.url))
/** Processes are slow: the whole table is in the long suite. */
const answers = inject('isLong') ? HOW : ['person', 'garbage', '401', '403']
const levels = inject('isLong') ? LEVELS : ['-v=9']

describe('a credential that a server echoes is not shown:', () => {
  const rows = Object.keys(USERS).flatMap((user, index) =>
    HOW.map((how) => ({ user, how, levels: index === 0 ? LEVELS : levels })),
  )
  it.each(rows)('$user, response $how', async ({ user, how, levels }) => {
    const kubeconfig = writeKubeconfig(USERS[user]?.() ?? {}, how)
    const runs = COMMANDS.flatMap(({ argv, isBody }) =>
      levels.map(async (level): Promise<Heard[]> => {
        const line = [...argv, level, '--kubeconfig', kubeconfig]
        const ran = [await runFake(line)]
        if (level === LEVELS.at(-1)) ran.push(await runFake(line, { terminal: true }))
        const channel = `kubecred ${argv.join(' ')} ${level}`
        return ran.flatMap(({ out, err }) => [
          { channel: `${channel} 2>`, text: err },
          ...(isBody ? [] : [{ channel, text: out }]),
        ])
      }),
    )
    const heard = (await Promise.all(runs)).flat()
    expect(heard.some(({ text }) => text.includes('[secret]'))).toBe(true)
    expect(leaks(heard)).toEqual([])
  })

  it('in the errors of a WebSocket', async () => {
    const heard: Heard[] = []
    for (const how of ['403', '401']) {
      const kubeconfig = writeKubeconfig({ token: `${MARK}-socket` }, how)
      await using cluster = await connect({ kubeconfig })
      const error = await openWebSocket(cluster, '/exec').catch((reason: unknown) => reason)
      expect(error).toMatchObject({
        code: 'ERR_UPGRADE_REFUSED',
        message: expect.stringContaining('[secret]'),
      })
      heard.push(...writeDown('the error', error))
    }
    expect(leaks(heard)).toEqual([])
  })

  it.each(levels)('in the output of proxy with %s, and on its page', async (level) => {
    await using home = new Home()
    const heard = answers.map(async (how): Promise<Heard[]> => {
      const kubeconfig = writeKubeconfig({ token: `${MARK}-proxy` }, how)
      const proxy = await Served.start(home, [
        ...['--port=0', '--metrics', '--kubeconfig', kubeconfig],
        level,
      ])
      await proxy.status('/api').catch(() => {})
      await readSocket(proxy)
      const page = new URL(proxy.said.page ?? '')
      const headers = { authorization: `Bearer ${page.hash.slice(1)}` }
      const metrics = await fetch(proxy.said.metrics ?? '', { headers })
      const state = await fetch(new URL('/state', page), { headers })
      expect([metrics.status, state.status]).toEqual([200, 200])
      const first = await state.body?.getReader().read()
      const shown = (await metrics.text()) + Buffer.from(first?.value ?? []).toString()
      expect(await proxy.end()).toBe(0)
      const { out, err } = proxy.running
      return [
        { channel: `kubecred proxy ${level}, answer ${how}`, text: out + err },
        { channel: 'the page and the metrics', text: shown },
      ]
    })
    expect(leaks((await Promise.all(heard)).flat())).toEqual([])
  })

  it.each(levels)('in the output of run with %s', async (level) => {
    await using home = new Home()
    const heard = answers.map(async (how): Promise<Heard> => {
      const kubeconfig = writeKubeconfig({ token: `${MARK}-run` }, how)
      const command = ['--', process.execPath, COMMAND]
      const { status, out, err } = await home.run([
        'run',
        '--kubeconfig',
        kubeconfig,
        level,
        ...command,
      ])
      expect({ status, err }).toMatchObject({ status: 0 })
      return { channel: `kubecred run ${level}, answer ${how}`, text: out + err }
    })
    expect(leaks(await Promise.all(heard))).toEqual([])
  })
})

/** Opens a WebSocket through a proxy and reads it, or the response instead of it, to its end. */
async function readSocket({ said, secret }: Served): Promise<void> {
  const headers = {
    ...secret,
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.alloc(16).toString('base64'),
  }
  await new Promise<unknown>((resolve) => {
    const read = (stream: Readable): void => {
      stream.on('error', resolve).on('close', resolve).resume()
    }
    request({ port: said.port, host: '127.0.0.1', path: '/watch', headers, agent: false })
      .on('response', read)
      .on('upgrade', (_, socket) => read(socket))
      .on('error', resolve)
      .end()
  })
}
