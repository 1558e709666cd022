import { spawnSync } from 'node:child_process'
import type { KubeconfigUser } from '@kubecred/sandbox'
import { type Ended, ended, Home, PROGRAM_LINE } from '../../../packages/cli/test/run/home.ts'
import type { Running } from '../../../packages/cli/test/spawn-program.ts'
import type { TestCluster } from '../harness/test-cluster.ts'
import type { Kubectl } from './kubectls.ts'

/** The user of a command, and the kubectl in PATH. */
export interface Runner {
  readonly kubectl: Kubectl
  readonly kubeconfig: string
  readonly env?: Readonly<Record<string, string>>
}

/** A pod named `web` in a new namespace, and commands that `kubecred run` starts for it. */
export class RunScene implements AsyncDisposable {
  readonly cluster: TestCluster
  readonly namespace: string
  readonly home = new Home()

  private constructor(cluster: TestCluster, namespace: string) {
    this.cluster = cluster
    this.namespace = namespace
  }

  static async open(cluster: TestCluster): Promise<RunScene> {
    const namespace = await cluster.namespace()
    await cluster.pod(namespace)
    return new RunScene(cluster, namespace)
  }

  kubeconfig(user: KubeconfigUser): string {
    return this.cluster.kubeconfig({ user, namespace: this.namespace })
  }

  /** Starts `kubecred run -- COMMAND…`. */
  start({ kubectl, kubeconfig, env }: Runner, command: readonly string[]): Running {
    const args = ['run', '--kubeconfig', kubeconfig, '--', ...command]
    return this.home.start(args, this.#env(kubectl, env))
  }

  /** Runs `kubecred run -- COMMAND…` until it exits. */
  run(runner: Runner, command: readonly string[], input = ''): Promise<Ended> {
    const running = this.start(runner, command)
    running.child.stdin?.write(input)
    return ended(running)
  }

  /**
   * Starts `kubecred run -- COMMAND…` in a terminal of 24 lines and 80 columns, whose device it prints first.
   *
   * @param line A line for a shell.
   */
  atTerminal({ kubectl, kubeconfig, env }: Runner, line: string): Running {
    const run = `${PROGRAM_LINE} run --kubeconfig '${kubeconfig}' -- ${line}`
    const begin = `stty rows 24 cols 80; echo "terminal $(tty)."`
    const quoted = `${begin}; exec ${run}`.replaceAll("'", `'\\''`)
    return this.home.atTerminal(`sh -c '${quoted}'`, this.#env(kubectl, env))
  }

  /** Runs the same kubectl without kubecred, as an administrator. */
  bare({ env, path }: Kubectl, args: readonly string[]): Omit<Ended, 'signal'> {
    const all = ['--kubeconfig', this.cluster.facts.kubeconfig, '-n', this.namespace, ...args]
    const { status, stdout, stderr } = spawnSync(path, all, {
      env: { ...process.env, ...this.#env({ env }) },
      encoding: 'utf8',
    })
    return { status, out: stdout, err: stderr }
  }

  /** The audit events of connections of this kind to the pod, one per connection. */
  noted(subresource: string, user: string): { verbs: Set<string>; codes: Set<number> } {
    const part = `/namespaces/${this.namespace}/pods/web/${subresource}`
    const events = this.cluster.seen(part).filter(({ user: by }) => by.username === user)
    return {
      verbs: new Set(events.map(({ verb }) => verb)),
      codes: new Set(events.map(({ responseStatus }) => responseStatus?.code ?? 0)),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.home[Symbol.asyncDispose]()
  }

  /** kubectl caches discovery in the user's home. */
  #env({ env }: Pick<Kubectl, 'env'>, more: Readonly<Record<string, string>> = {}) {
    return { HOME: this.home.folder, KUBECACHEDIR: this.home.path('cache'), ...env, ...more }
  }
}
