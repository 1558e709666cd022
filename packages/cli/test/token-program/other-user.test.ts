import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, lstatSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AgentHome, answers, type Ended } from './agent-home.ts'

const SETPRIV = 'setpriv'
const NOBODY = 65_534
const AS_NOBODY = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
/** Only root can change the user. */
const canBecome = spawnSync(SETPRIV, [...AS_NOBODY, process.execPath, '-e', '0']).status === 0

/** Creates the folder if possible, listens in it, answers like an agent, and prints what it receives. */
const IMPOSTOR = `
const { mkdirSync } = require('node:fs')
const [folder, socket] = process.argv.slice(1)
try { mkdirSync(folder, { mode: 0o700 }) } catch {}
process.umask(0o177)
require('node:net').createServer((client) => {
  client.on('error', () => {})
  client.on('data', (chunk) => process.stdout.write('heard ' + chunk))
  client.write('{"is":"credential","text":"stolen"}\\n')
}).listen(socket, () => process.stdout.write('listens\\n'))
`

let home: AgentHome
let plugin: string
let impostor: ChildProcess | undefined
let heard: string

beforeEach(() => {
  home = new AgentHome()
  plugin = home.plugin('p', answers())
  chmodSync(home.folder, 0o711)
  heard = ''
})
afterEach(async () => {
  if (impostor !== undefined) {
    impostor.kill('SIGKILL')
    await once(impostor, 'close')
    impostor = undefined
  }
  await home.close()
})

async function startImpostor(folder: string): Promise<void> {
  const socket = join(folder, 'agent-1.sock')
  const args = [...AS_NOBODY, process.execPath, '-e', IMPOSTOR, folder, socket]
  impostor = spawn(SETPRIV, args, { cwd: '/', env: {}, stdio: ['ignore', 'pipe', 'inherit'] })
  impostor.stdout?.setEncoding('utf8').on('data', (text: string) => {
    heard += text
  })
  while (!heard.includes('listens')) await once(impostor.stdout ?? impostor, 'data')
  expect(lstatSync(socket).uid).toBe(NOBODY)
}

function expectRefused(ended: Ended, path: string): void {
  expect(ended).toMatchObject({ status: 0, token: '1' })
  expect(ended.out).not.toContain('stolen')
  expect(ended.err).toContain(`${path}" is not used: it belongs to another user`)
  expect(heard).toBe('listens\n')
}

describe.skipIf(!canBecome)(
  'another user of the machine who is there before the agent (needs root, and setpriv of util-linux)',
  () => {
    it('receives nothing if it owns the folder in the temporary folder', async () => {
      const tmp = home.path('tmp')
      mkdirSync(tmp)
      chmodSync(tmp, 0o1777)
      const folder = join(tmp, `kubecred-${process.getuid?.()}`)
      await startImpostor(folder)
      const env = { TMPDIR: tmp, XDG_RUNTIME_DIR: undefined }
      expectRefused(await home.token(['--', plugin], env), folder)
    })

    it('receives nothing if it owns the socket, in a folder that was once open', async () => {
      const { folder, socket } = home.paths
      chmodSync(join(folder, '..'), 0o711)
      mkdirSync(folder)
      chmodSync(folder, 0o777)
      await startImpostor(folder)
      chmodSync(folder, 0o700)
      expectRefused(await home.token(['--', plugin]), socket)
    })

    it('cannot read the memory of the agent, nor connect to it', async () => {
      await home.token(['--', plugin])
      chmodSync(join(home.paths.folder, '..'), 0o711)
      const talk = `require('node:net').connect(process.argv[1]).on('error', ({ code }) => console.log(code))`
      const args = [...AS_NOBODY, process.execPath, '-e', talk, home.paths.socket]
      expect(spawnSync(SETPRIV, args, { encoding: 'utf8' }).stdout.trim()).toBe('EACCES')
    })
  },
)
