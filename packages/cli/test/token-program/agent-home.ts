import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type AgentPaths, agentPaths } from '../../src/agent/agent-paths.ts'
import { askAgent } from '../../src/agent/ask-agent.ts'
import type { AgentStatus } from '../../src/agent/protocol.ts'

/** The built programs; bootstrap builds them before the tests run. */
export const TOKEN_PROGRAM = fileURLToPath(new URL('../../bin/kubecred-token.cjs', import.meta.url))
export const PROGRAM = fileURLToPath(new URL('../../bin/kubecred.cjs', import.meta.url))

export const execInfo = (interactive = false, more: object = {}): string =>
  JSON.stringify({
    kind: 'ExecCredential',
    apiVersion: 'client.authentication.k8s.io/v1',
    spec: { ...more, interactive },
  })

export interface Ended {
  readonly status: number | null
  readonly out: string
  readonly err: string
  /** The token in the answer. */
  readonly token: string | undefined
}

/** Starts each call from a new client: a client that asks twice means that the server refused the credential. */
const AS_CLIENT = '"$0" "$@"; exit $?'

/** A home and a runtime folder for one test, with the agent that is started in it. */
export class AgentHome {
  readonly folder = mkdtempSync(join(tmpdir(), 'ka-'))
  readonly env: Record<string, string>
  readonly paths: AgentPaths

  constructor(runtime = 'run') {
    for (const name of ['home', runtime]) {
      mkdirSync(join(this.folder, name), { mode: 0o700, recursive: true })
    }
    this.env = {
      PATH: process.env['PATH'] ?? '',
      HOME: join(this.folder, 'home'),
      XDG_RUNTIME_DIR: join(this.folder, runtime),
      RUNS: join(this.folder, 'runs'),
    }
    this.paths = agentPaths(this.env)
  }

  path(...parts: string[]): string {
    return join(this.folder, ...parts)
  }

  /** Writes a plugin that records each run, and then runs the shell script. */
  plugin(name: string, script: string): string {
    const file = this.path(name)
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, `#!/bin/sh\necho "$$" >> "$RUNS"\n${script}\n`)
    chmodSync(file, 0o755)
    return file
  }

  /** How often plugins ran. */
  get runs(): number {
    return existsSync(this.env['RUNS'] ?? '') ? this.lines('runs').length : 0
  }

  lines(name: string): string[] {
    return readFileSync(this.path(name), 'utf8').trim().split('\n')
  }

  /**
   * Starts kubecred-token, as a client would.
   *
   * @param stanza Variables that the client sets from `exec.env`, as `NAME=value`.
   */
  start(
    args: readonly string[],
    env: Record<string, string | undefined> = {},
    stanza: readonly string[] = [],
  ): ChildProcess {
    const command = ['env', ...stanza, process.execPath, TOKEN_PROGRAM, ...args]
    return spawn('/bin/sh', ['-c', AS_CLIENT, ...command], {
      env: { ...this.env, KUBERNETES_EXEC_INFO: execInfo(), ...env },
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  token(
    args: readonly string[],
    env: Record<string, string | undefined> = {},
    stanza: readonly string[] = [],
  ): Promise<Ended> {
    return collect(this.start(args, env, stanza))
  }

  /** Starts a client that asks several times. */
  client(args: readonly string[], env: Record<string, string> = {}): Client {
    return new Client(this, args, env)
  }

  program(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
    const all = { ...this.env, ...env }
    return collect(
      spawn(process.execPath, [PROGRAM, ...args], { env: all, stdio: ['ignore', 'pipe', 'pipe'] }),
    )
  }

  async status(): Promise<AgentStatus | undefined> {
    const answer = await askAgent(this.paths, { do: 'status' })
    return typeof answer === 'object' && answer.is === 'status' ? answer.status : undefined
  }

  /** Waits until the status of the agent matches. */
  async until(isSo: (status: AgentStatus) => boolean): Promise<AgentStatus> {
    for (;;) {
      const status = await this.status()
      if (status !== undefined && isSo(status)) return status
      await sleep(20)
    }
  }

  /** Ends the agent, and its plugins. */
  async close(): Promise<void> {
    await askAgent(this.paths, { do: 'stop' }).catch(() => {})
    while (existsSync(this.paths.socket) && (await this.status().catch(() => undefined))) {
      await sleep(20)
    }
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** A process that runs kubecred-token once for each line it is sent. */
class Client {
  readonly #child: ChildProcess
  readonly #answers: string[] = []

  constructor(home: AgentHome, args: readonly string[], env: Record<string, string>) {
    const script = 'while IFS= read -r _; do "$0" "$@"; echo "status $?"; done'
    this.#child = spawn('/bin/sh', ['-c', script, process.execPath, TOKEN_PROGRAM, ...args], {
      env: { ...home.env, KUBERNETES_EXEC_INFO: execInfo(), ...env },
      cwd: home.folder,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    let rest = ''
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      rest += text
      for (let end = rest.indexOf('status '); end !== -1; end = rest.indexOf('status ')) {
        const close = rest.indexOf('\n', end)
        if (close === -1) return
        this.#answers.push(rest.slice(0, end))
        rest = rest.slice(close + 1)
        this.#child.emit('answer')
      }
    })
  }

  async token(): Promise<string | undefined> {
    this.#child.stdin?.write('\n')
    while (this.#answers.length === 0) await once(this.#child, 'answer')
    return tokenIn(this.#answers.shift() ?? '')
  }

  end(): void {
    this.#child.stdin?.end()
  }
}

export async function collect(child: ChildProcess): Promise<Ended> {
  let out = ''
  let err = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  const [status] = await once(child, 'close')
  return { status: status as number | null, out, err, token: tokenIn(out) }
}

function tokenIn(out: string): string | undefined {
  try {
    return JSON.parse(out).status.token
  } catch {
    return undefined
  }
}

/** A shell script that answers with the number of the run as its token, and other fields. */
export function answers(token = '$(wc -l < "$RUNS" | tr -d " ")', life = '2099-01-01T00:00:00Z') {
  const end = life === '' ? '' : `,\\"expirationTimestamp\\":\\"${life}\\"`
  return `echo "{\\"kind\\":\\"ExecCredential\\",\\"apiVersion\\":\\"client.authentication.k8s.io/v1\\",\\"status\\":{\\"token\\":\\"${token}\\"${end}}}"`
}
