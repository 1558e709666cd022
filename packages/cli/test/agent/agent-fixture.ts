import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { FakeClock } from '../../../core/src/testing/fake-clock.ts'
import { type AgentPaths, agentPaths } from '../../src/agent/agent-paths.ts'
import { type AskListener, askAgent } from '../../src/agent/ask-agent.ts'
import type { AgentStatus, GetRequest } from '../../src/agent/protocol.ts'
import { type ServedAgent, type ServeOptions, serveAgent } from '../../src/agent/serve-agent.ts'

/** An agent in this process, with its own folder and clock for each test. */
export class AgentFixture {
  folder = ''
  clock = new FakeClock()
  #served: ServedAgent | undefined

  constructor() {
    beforeEach(() => {
      this.folder = mkdtempSync(join(tmpdir(), 'ka-'))
      this.clock = new FakeClock(Date.parse('2030-01-01T00:00:00Z'))
    })
    afterEach(async () => {
      this.#served?.stop()
      await this.#served?.ended
      this.#served = undefined
      rmSync(this.folder, { recursive: true, force: true })
    })
  }

  get paths(): AgentPaths {
    return agentPaths({ XDG_RUNTIME_DIR: this.folder })
  }

  async serve(options: ServeOptions = {}): Promise<ServedAgent> {
    const { clock } = this
    this.#served = await serveAgent(this.paths, { clock, checkIntervalMs: 10, ...options })
    return this.#served
  }

  /** Returns a request for a plugin that runs the shell script; by default it answers with the number of its run. */
  request(script = this.answer(), change: Partial<GetRequest> = {}): GetRequest {
    const path = join(this.folder, 'plugin')
    writeFileSync(path, `#!/bin/sh\necho run >> '${this.folder}/runs'\n${script}\n`)
    chmodSync(path, 0o755)
    return {
      do: 'get',
      path,
      command: 'plugin',
      args: [],
      env: { PATH: process.env['PATH'] ?? '' },
      cwd: this.folder,
      execInfo:
        '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{}}',
      files: [],
      isAccountKnown: true,
      isInteractive: false,
      ...change,
    }
  }

  /** A shell script that answers with the number of its run. */
  answer(life = '2099-01-01T00:00:00Z'): string {
    const end = life === '' ? '' : `,\\"expirationTimestamp\\":\\"${life}\\"`
    return `echo "{\\"kind\\":\\"ExecCredential\\",\\"apiVersion\\":\\"client.authentication.k8s.io/v1\\",\\"status\\":{\\"token\\":\\"$(wc -l < '${this.folder}/runs' | tr -d ' ')\\"${end}}}"`
  }

  get runs(): number {
    const file = join(this.folder, 'runs')
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').length : 0
  }

  async token(asked: GetRequest, listener?: AskListener): Promise<string> {
    const got = await askAgent(this.paths, asked, listener)
    if (typeof got === 'string') return got
    return got.is === 'credential' ? JSON.parse(got.text).status.token : got.is
  }

  async status(): Promise<AgentStatus | undefined> {
    const got = await askAgent(this.paths, { do: 'status' })
    return typeof got === 'object' && got.is === 'status' ? got.status : undefined
  }
}
