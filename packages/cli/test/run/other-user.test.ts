import { spawnSync } from 'node:child_process'
import { chmodSync, lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ended } from './home.ts'
import { HomeScene } from './home-scene.ts'

const scene = new HomeScene()
const NOBODY = 65_534
const AS_NOBODY = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', process.execPath]
/** Only root can change the user. */
const canBecome = spawnSync('setpriv', [...AS_NOBODY, '-e', '0']).status === 0

/** Runs a script as another user, and returns what it printed. */
function asNobody(script: string, ...args: string[]): string {
  const { stdout, stderr } = spawnSync('setpriv', [...AS_NOBODY, '-e', script, ...args], {
    encoding: 'utf8',
    cwd: '/',
    env: {},
  })
  expect(stderr).toBe('')
  return stdout.trim()
}

const LOOK = `
const fs = require('node:fs')
for (const path of process.argv.slice(1)) {
  for (const look of [fs.readdirSync, fs.readFileSync]) {
    try { look(path); console.log('read', path) } catch ({ code }) { console.log(code) }
  }
}`

/** Creates a folder, or a link to the second argument, at the first. */
const OCCUPY = `
const fs = require('node:fs')
const [path, to] = process.argv.slice(1)
if (to === undefined) fs.mkdirSync(path, { mode: 0o777 })
else fs.symlinkSync(to, path)`

describe.skipIf(!canBecome)(
  'another user of the machine (needs root, and setpriv of util-linux)',
  () => {
    it('reads nothing of the folder, the environment or the memory of run', async () => {
      chmodSync(scene.home.folder, 0o711)
      const running = await scene.startShell('echo ready $$ $PPID "$KUBECONFIG"; read line')
      const [, child = '', parent = '', kubeconfig = ''] =
        /ready (\d+) (\d+) (\S+)/.exec(running.out) ?? []
      expect(readFileSync(kubeconfig, 'utf8')).toContain('"token"')
      const places = [
        ...[scene.home.private, join(kubeconfig, '..'), kubeconfig],
        ...[join(kubeconfig, '..', 'header'), join(kubeconfig, '..', 'ca.crt')],
        ...[child, parent].flatMap((pid) => [`/proc/${pid}/environ`, `/proc/${pid}/fd`]),
        `/proc/${parent}/mem`,
      ]
      expect(asNobody(LOOK, ...places)).not.toContain('read')
      await ended(running)
    })

    it('sees no secret on the command lines of run and of its command', async () => {
      const running = await scene.startShell('echo ready $$ $PPID "$KUBECRED_TOKEN"; read line')
      const [, child = '', parent = '', secret = ''] =
        /ready (\d+) (\d+) (\S+)/.exec(running.out) ?? []
      expect(secret).not.toBe('')
      for (const pid of [child, parent]) {
        expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(secret)
      }
      await ended(running)
    })

    it('cannot offer its own folder, or a link, in a shared temporary folder', async () => {
      const shared = scene.home.makeFolder('shared', 0o1777)
      chmodSync(scene.home.folder, 0o711)
      const base = join(shared, `kubecred-${process.getuid?.()}`)
      const env = { XDG_RUNTIME_DIR: undefined, TMPDIR: shared }
      asNobody(OCCUPY, base)
      expect(lstatSync(base).uid).toBe(NOBODY)
      expect(await scene.runShell('echo started', env)).toMatchObject({
        status: 96,
        out: '',
        err: expect.stringContaining('it belongs to another user'),
      })
      asNobody("require('node:fs').rmdirSync(process.argv[1])", base)
      const own = scene.home.makeFolder('own')
      asNobody(OCCUPY, base, own)
      expect(await scene.runShell('echo started', env)).toMatchObject({
        status: 96,
        out: '',
        err: expect.stringContaining('it is a symbolic link'),
      })
    })
  },
)
