import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import {
  type KubeconfigExec,
  type KubeconfigUser,
  type Sandbox,
  startSandbox,
} from '@kubecred/sandbox'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { execCredential } from '../fixtures/plugin-folder.ts'
import { type Ended, RunningProgram } from '../fixtures/running-program.ts'

/** `--import` looks up packages from the working folder. */
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
export const IMPORT = ['--import', 'kubecred/register']
/** Its file, for processes in other folders. */
export const MODULE = createRequire(import.meta.url).resolve('kubecred/register')

/** Defines `ask()`: it sends a request as KUBECONFIG says, and prints the status. Works in both kinds of modules. */
export const ASK = `
const { readFileSync } = process.getBuiltinModule('node:fs')
const { get } = process.getBuiltinModule('node:https')
const ask = (path = '/version') => new Promise((resolve, reject) => {
  const { clusters: [{ cluster }], users: [{ user }] } = JSON.parse(readFileSync(process.env.KUBECONFIG, 'utf8'))
  const ca = Buffer.from(cluster['certificate-authority-data'], 'base64')
  const headers = { authorization: 'Bearer ' + user.token }
  get(cluster.server + path, { ca, headers, agent: false }, (response) => {
    let text = ''
    response.on('data', (data) => { text += data })
    response.on('end', () => { console.log(response.statusCode); resolve(text) })
  }).on('error', reject)
});
`

type Environment = Readonly<Record<string, string | undefined>>

/** A sandbox with jane's kubeconfig, and Node programs with `kubecred/register`, each test with its own folders. */
export class RegisterScene {
  declare sandbox: Sandbox
  declare folder: string
  kubeconfig = ''

  constructor() {
    beforeAll(async () => {
      this.sandbox = await startSandbox()
      this.kubeconfig = this.user({ token: this.sandbox.issueToken({ user: 'jane' }).token })
    })
    beforeEach(() => {
      this.folder = mkdtempSync(join(tmpdir(), 'register-'))
    })
    afterEach(() => rmSync(this.folder, { recursive: true, force: true }))
    afterAll(() => this.sandbox.close())
  }

  /** Returns the path of a kubeconfig of a user. */
  user(user: KubeconfigUser): string {
    return this.sandbox.writeKubeconfig({ user })
  }

  /** Writes a plugin in the language of the shell. `answer TOKEN` prints an ExecCredential, `$run` counts from 1. */
  plugin(script: string, more: Partial<KubeconfigExec> = {}): string {
    const command = join(this.folder, 'plugin')
    const [before, after] = JSON.stringify(execCredential({ token: '$' })).split('$')
    const lines = [
      '#!/bin/sh',
      `cd '${this.folder}' && echo >> runs && run=$(wc -l < runs)`,
      `answer() { printf '%s%s%s' '${before}' "$1" '${after}'; }`,
      script,
    ]
    writeFileSync(command, lines.join('\n'), { mode: 0o755 })
    return this.user({ exec: { command, ...more } })
  }

  env(more: Environment = {}): Environment {
    const own = { XDG_RUNTIME_DIR: this.folder, KUBECONFIG: this.kubeconfig }
    return { ...process.env, NODE_OPTIONS: undefined, ...own, ...more }
  }

  /** Starts Node with these arguments. */
  start(args: readonly string[], env?: Environment): RunningProgram {
    return new RunningProgram(process.execPath, args, { cwd: ROOT, env: this.env(env) })
  }

  /** Runs a script with the module, until it ends. */
  run(script: string, env?: Environment, before: readonly string[] = IMPORT): Promise<Ended> {
    return this.start([...before, '-e', script], env).ended()
  }

  /** The folders of programs that run or were killed. */
  leftovers(): string[] {
    const names = readdirSync(this.folder)
    return names.includes('kubecred') ? readdirSync(join(this.folder, 'kubecred')) : []
  }
}
