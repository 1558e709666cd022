import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hasScript, NEEDS_SCRIPT } from '../../../core/test/fixtures/running-program.ts'
import { TokenScene } from '../../../pkcs11/test/end-to-end/token-scene.ts'
import { hasSoftHsm, NEEDS, PIN } from '../../../pkcs11/test/soft-token.ts'
import {
  ended,
  Home,
  hasCurl,
  hasKubectl,
  NEEDS_CURL,
  NEEDS_KUBECTL,
  PROGRAM_LINE,
} from './home.ts'

let home: Home
beforeEach(() => {
  home = new Home()
})
afterEach(async ({ task }) => {
  // A bare timeout would not show what was waited for.
  if (task.result?.state === 'fail') process.stderr.write(`${home.log}\n`)
  await home[Symbol.asyncDispose]()
})

describe.skipIf(!hasScript)(`kubecred run at a terminal (${NEEDS_SCRIPT})`, () => {
  let sandbox: Sandbox
  let line: string
  beforeAll(async () => {
    sandbox = await startSandbox()
    const { token } = sandbox.issueToken({ user: 'jane' })
    line = `${PROGRAM_LINE} run --kubeconfig '${sandbox.writeKubeconfig({ user: { token } })}' --`
  })
  afterAll(() => sandbox.close())

  it('delivers each Ctrl-C to the command once', async () => {
    const script = `process.on("SIGINT", () => console.log("got"))
      // A duplicate would arrive a little later.
      process.stdin.on("data", () => setTimeout(() => process.exit(4), 300))
      console.log("ready")`
    const running = home.atTerminal(`${line} '${process.execPath}' -e '${script}'`)
    await running.until('out', /ready/)
    for (const times of [1, 2]) {
      running.child.stdin?.write('\u0003')
      await running.until('out', new RegExp(`(?:got[^g]*){${times}}`))
    }
    running.child.stdin?.write('end\r')
    expect(await running.end()).toBe(4)
    expect(running.out.match(/got/g)).toHaveLength(2)
    expect(home.leftovers()).toEqual([])
  })

  it('forwards SIGTERM, which does not come from the terminal', async () => {
    const script = `trap "exit 6" TERM; echo parent $PPID.; while :; do sleep 0.1; done`
    const running = home.atTerminal(`${line} sh -c '${script}'`)
    const [, parent] = await running.until('out', /parent (\d+)\./)
    process.kill(Number(parent), 'SIGTERM')
    expect(await running.end()).toBe(6)
  })

  it('is killed by Ctrl-C as the command is, so that a shell loop ends', async () => {
    // Not a shell that starts another command: between its fork and exec, dash loses a signal.
    const command = `'${process.execPath}' -e 'console.log("ready"); setInterval(() => {}, 1000)'`
    const loop = `for i in 1 2 3; do ${line} ${command}; done; echo went on`
    const running = home.atTerminal(`bash -c "${loop.replaceAll('"', '\\"')}"`)
    await running.until('out', /ready/)
    running.child.stdin?.write('\u0003')
    await running.end()
    expect(running.out.match(/ready/g)).toHaveLength(1)
    expect(running.out).not.toContain('went on')
    expect(home.leftovers()).toEqual([])
  })

  it('stops with Ctrl-Z and continues with fg', async () => {
    const running = home.atTerminal('bash --norc -i')
    running.child.stdin?.write(`PS1='prompt> '\r`)
    await running.until('out', /[^']prompt> /)
    running.child.stdin?.write(`${line} sh -c 'echo rea""dy; read x; echo was $x; exit 5'\r`)
    await running.until('out', /ready\r/)
    running.child.stdin?.write('\u001a')
    await running.until('out', /Stopped/)
    running.child.stdin?.write('fg\r')
    await running.until('out', /fg\r?\n[^\n]*run --kubeconfig/)
    // Not `\r`: if the shell has not given the terminal back yet, that is not the end of a line.
    running.child.stdin?.write('woken\n')
    await running.until('out', /was woken/)
    running.child.stdin?.write('echo status $?\r')
    await running.until('out', /status 5/)
    running.child.stdin?.write('exit\r')
    await running.end()
  })

  it.skipIf(!hasCurl)(
    `lets a plugin prompt before the command starts, and not while the command has the terminal (${NEEDS_CURL})`,
    async () => {
      const script = `#!/bin/sh
case "$KUBERNETES_EXEC_INFO" in *'"interactive":true'*) ;; *) echo no terminal >&2; exit 9 ;; esac
stty -echo; printf 'Password: ' >&2; read word; stty echo
printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}' "$word"
`
      const command = home.write('asks', script, 0o700)
      const { token } = sandbox.issueToken({ user: 'jane' })
      const path = sandbox.writeKubeconfig({
        user: { exec: { command, interactiveMode: 'Always' } },
      })
      const request = `curl -sS --cacert "$KUBECRED_CA" -H "@$KUBECRED_HEADER" "$KUBECRED_SERVER/api/v1/namespaces"`
      const inner = `echo ready; read x; ${request}; echo; echo over`
      const running = home.atTerminal(
        `${PROGRAM_LINE} run --kubeconfig '${path}' -- sh -c '${inner}'`,
      )
      await running.until('out', /Password: /)
      running.child.stdin?.write(`${token}\r`)
      await running.until('out', /ready/)
      sandbox.revoke(token)
      running.child.stdin?.write('\r')
      await running.until('out', /over/)
      expect(await running.end()).toBe(0)
      expect(running.out.match(/Password: /g)).toHaveLength(1)
      expect(running.out).toMatch(/"code":40[13]|"code":50[0-9]/)
    },
  )
})

/** Two requests; the second one waits for a line. */
const TWICE =
  'kubectl get --raw /version >/dev/null && echo first; read x; kubectl get --raw /version >/dev/null && echo second'

describe.skipIf(!hasScript || !hasKubectl)(
  `a signer that exits after each signature (${NEEDS_KUBECTL}, ${NEEDS_SCRIPT})`,
  () => {
    it('cannot prompt again while the command has the terminal, and a warning explains it', async () => {
      await using sandbox = await startSandbox()
      const { certificate, key } = await sandbox.issueCertificate({ user: 'jane' })
      const kit = createRequire(import.meta.url).resolve('kubecred/signer')
      const source = `#!${process.execPath}
import { sign } from 'node:crypto'
import { runSigner } from ${JSON.stringify(pathToFileURL(kit).href)}
await runSigner({
  certificate: () => ${JSON.stringify(certificate)},
  async sign({ message, prompt }) {
    await prompt('PIN: ', { secret: true })
    return sign('sha256', message, ${JSON.stringify(key)})
  },
}, { longRunning: false })`
      const config = { pathExec: home.write('once.mjs', source, 0o700) }
      const user = { 'auth-provider': { name: 'externalSigner', config } }
      const path = sandbox.writeKubeconfig({ user })
      const running = home.atTerminal(
        `${PROGRAM_LINE} run --kubeconfig '${path}' -- sh -c '${TWICE}'`,
      )
      await running.until('out', /PIN: /)
      running.child.stdin?.write('1234\r')
      await running.until('out', /first/)
      sandbox.dropConnections()
      running.child.stdin?.write('\r')
      await running.end()
      expect(running.out).not.toMatch(/^second/m)
      expect(running.out).toMatch(/signer once\.mjs exits after each signature and cannot ask/)
    })
  },
)

describe.skipIf(!hasScript || !hasSoftHsm || !hasKubectl)(
  `a key that stays in its token (${NEEDS}, ${NEEDS_KUBECTL}, ${NEEDS_SCRIPT})`,
  () => {
    let scene: TokenScene
    beforeAll(async () => {
      scene = await TokenScene.open()
      await scene.addKey({ type: 'EC:prime256v1', id: '02' }, 'jane')
    }, 60_000)
    afterAll(() => scene[Symbol.asyncDispose]())

    it('is used by kubectl with a PIN that is typed once, before kubectl starts', async () => {
      const { library, environment } = scene.hsm.spied
      const path = scene.writeKubeconfig({ pathLib: library, objectIdHex: '02' })
      const script = 'echo started; kubectl get namespaces; kubectl auth whoami'
      const line = `${PROGRAM_LINE} run --kubeconfig '${path}' -- sh -c '${script}'`
      const running = home.atTerminal(line, environment)
      await running.until('out', /PIN of token "kube" \(serial \w+, slot \d+\): /)
      expect(running.out).not.toContain('started')
      running.child.stdin?.write(`${PIN}\r`)
      expect(await running.end()).toBe(0)
      expect(running.out).toMatch(/^kube-system/m)
      expect(running.out).toMatch(/Username\s+jane/)
      expect(running.out.match(/PIN of token/g)).toHaveLength(1)
      expect(running.out).not.toContain(PIN)
      expect(scene.hsm.callsOf('C_Login')).toBe(1)
      expect(home.leftovers()).toEqual([])
    })

    it('signs the next connection of the command with the PIN that was typed once', async () => {
      const { library, environment } = scene.hsm.spied
      const path = scene.writeKubeconfig({ pathLib: library, objectIdHex: '02' })
      scene.signer.asked()
      const line = `${PROGRAM_LINE} run --kubeconfig '${path}' -- sh -c '${TWICE}'`
      const running = home.atTerminal(line, environment)
      await running.until('out', /PIN of token/)
      running.child.stdin?.write(`${PIN}\r`)
      await running.until('out', /first/)
      scene.sandbox.dropConnections()
      running.child.stdin?.write('\r')
      expect(await running.end()).toBe(0)
      expect(running.out).toMatch(/^second/m)
      expect(running.out).not.toMatch(/503|Warning/)
      expect(running.out.match(/PIN of token/g)).toHaveLength(1)
      expect(scene.signer.asked().filter((kind) => kind === 'SignRequest')).toHaveLength(2)
      expect(scene.hsm.callsOf('C_Login')).toBe(1)
    })

    it('cannot be printed with kubecred token, which suggests run', async () => {
      const path = scene.writeKubeconfig({ pathLib: scene.hsm.spied.library, objectIdHex: '02' })
      const running = home.start(['token', '--kubeconfig', path], scene.hsm.spied.environment)
      const { status, out, err } = await ended(running)
      expect({ status, out }).toEqual({ status: 19, out: '' })
      expect(err).toContain('kubecred run -- kubectl get pods')
    })

    it('keeps the command from starting when the PIN is wrong', async () => {
      const { library, environment } = scene.hsm.spied
      const path = scene.writeKubeconfig({ pathLib: library, objectIdHex: '02' })
      const line = `${PROGRAM_LINE} run --kubeconfig '${path}' -- echo started`
      const running = home.atTerminal(line, environment)
      await running.until('out', /PIN of token/)
      running.child.stdin?.write('654321\r')
      expect(await running.end()).not.toBe(0)
      expect(running.out).toContain('the PIN is wrong')
      expect(running.out).not.toMatch(/^started/m)
    })
  },
)
