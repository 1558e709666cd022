// Starts kube-apiserver with etcd on this machine, for the benchmarks that need it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { broughtPath, builtPath, isExecutable } from '../tools/cluster/folders.mjs'
import { PROGRAMS } from '../tools/cluster/programs.mjs'

/** What to do if there is no cluster to start. */
export const NO_CLUSTER = 'node tools/cluster/build.mjs builds it'

/** Whether the programs of a cluster are here. */
export function hasCluster() {
  return PROGRAMS.every((each) => broughtPath(each) !== undefined || isExecutable(builtPath(each)))
}

/** Starts etcd and kube-apiserver as the cluster suite does. */
export async function startCluster() {
  const program = fileURLToPath(new URL('../tools/cluster/start.mjs', import.meta.url))
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit').then(() => {
      throw new Error('the cluster did not start')
    }),
  ])
  const { KUBECONFIG: kubeconfig, server, staticToken: token } = JSON.parse(line)
  return {
    kubeconfig,
    server,
    token,
    async close() {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}
