import { addLogLine } from './kwok.ts'
import type { Programs } from './stage.ts'
import { startCluster } from './start-cluster.ts'

/** Starts a cluster for manual use, prints how to use it, and runs until it is interrupted. */
export async function runByHand(programs: Programs): Promise<void> {
  const begun = Date.now()
  const ended = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => resolve())
  })
  const { facts, close } = await startCluster(programs, { kwok: true })
  const lines = setInterval(() => addLogLine(facts.podLogFile, new Date().toISOString()), 1000)
  const { staticUser, folder, kubeconfig, access } = facts
  const said = {
    KUBECONFIG: kubeconfig,
    server: access.server,
    staticToken: staticUser.token,
    folder,
    kubectl: programs.kubectl,
    readyAfterMs: Date.now() - begun,
  }
  process.stdout.write(`${JSON.stringify(said)}\n`)
  await ended
  clearInterval(lines)
  await close()
}
