import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { Running } from '../spawn-program.ts'
import { type Ended, type Environment, Home } from './home.ts'

/** A sandbox with jane's kubeconfig for the tests of a file, and a new home folder for each test. */
export class HomeScene {
  declare sandbox: Sandbox
  declare home: Home
  kubeconfig = ''

  constructor() {
    beforeAll(async () => {
      this.sandbox = await startSandbox()
      const { token } = this.sandbox.issueToken({ user: 'jane' })
      this.kubeconfig = this.sandbox.writeKubeconfig({ user: { token } })
    })
    beforeEach(() => {
      this.home = new Home()
    })
    afterEach(() => this.home[Symbol.asyncDispose]())
    afterAll(() => this.sandbox.close())
  }

  /** The arguments that run a shell script as jane. */
  shell(script: string): string[] {
    return ['run', '--kubeconfig', this.kubeconfig, '--', 'sh', '-c', script]
  }

  /** Runs a script to its end. */
  runShell(script: string, env?: Environment): Promise<Ended> {
    return this.home.run(this.shell(script), env)
  }

  /** Starts a script that prints `ready`, and waits for that. */
  async startShell(script: string): Promise<Running> {
    const running = this.home.start(this.shell(script))
    await running.until('out', /ready/)
    return running
  }
}
