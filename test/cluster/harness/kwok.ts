import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type AdminAccess, adminRequest } from './admin-request.ts'
import { issue, makeAuthority } from './certificates.ts'
import { freePort } from './free-port.ts'
import { kwokConfig } from './kwok-config.ts'
import { Program } from './program.ts'
import { LOOPBACK, type Stage } from './stage.ts'

export const NODE = 'node-0'

export interface Kwok {
  readonly program: Program
  /** The file with the log of every pod. */
  readonly logFile: string
  /** The working folder of commands in pods. */
  readonly workFolder: string
}

/**
 * Starts kwok with one node, whose pods run as soon as they are created.
 *
 * A command in a pod is a process of this machine and of this user, and kwok does not authenticate its clients as a
 * kubelet does. It listens only on the loopback interface, at a random port, while the suite runs.
 */
export async function startKwok(
  stage: Stage,
  access: AdminAccess,
  kubeconfig: string,
): Promise<Kwok> {
  const [logFile, workFolder] = [join(stage.folder, 'pod.log'), join(stage.folder, 'pods')]
  mkdirSync(workFolder)
  addLogLine(logFile, 'hello from the pod')
  const authority = await makeAuthority('kubelet-ca')
  const own = await issue('kubelet-ca', authority, { user: NODE, names: LOOPBACK })
  const port = await freePort()
  const program = new Program({
    ...stage,
    name: 'kwok',
    path: stage.programs.kwok,
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--config=${stage.write('kwok.yaml', kwokConfig({ logFile, workFolder }))}`,
      '--manage-all-nodes=true',
      '--node-ip=127.0.0.1',
      `--node-port=${port}`,
      `--server-address=127.0.0.1:${port}`,
      '--node-lease-duration-seconds=0',
      `--tls-cert-file=${stage.write('kubelet.crt', own.certificate)}`,
      `--tls-private-key-file=${stage.write('kubelet.key', own.key)}`,
    ],
  })
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: NODE } }
  await adminRequest(access, 'POST', '/api/v1/nodes', node)
  await program.untilReady(async () => {
    const { body } = await adminRequest(access, 'GET', `/api/v1/nodes/${NODE}`)
    return body.status.daemonEndpoints?.kubeletEndpoint?.Port === port
  })
  return { program, logFile, workFolder }
}

/** Appends a line to the log of every pod, in the format of container runtimes. */
export function addLogLine(logFile: string, line: string): void {
  appendFileSync(logFile, `${new Date().toISOString()} stdout F ${line}\n`)
}
