import { connect } from 'node:net'
import { join } from 'node:path'
import { issue, makeAuthority } from './certificates.ts'
import { freePort } from './free-port.ts'
import { Program } from './program.ts'
import { LOOPBACK, type Stage } from './stage.ts'

/** An etcd that can be stopped and started again with its data at the same address, and the flags of its client. */
export interface Etcd {
  readonly program: Program
  /** Flags for kube-apiserver. */
  readonly flags: readonly string[]
  /** Starts the program again after it was stopped, and waits until it is ready. */
  run(): Promise<void>
}

/** Starts etcd with client certificates, so that other users of this machine cannot read the secrets in it. */
export async function startEtcd(stage: Stage): Promise<Etcd> {
  const authority = await makeAuthority('etcd-ca')
  const server = await issue('etcd-ca', authority, { user: 'etcd', names: LOOPBACK })
  const client = await issue('etcd-ca', authority, { user: 'kube-apiserver' })
  const ca = stage.write('etcd-ca.crt', authority.certificate)
  const port = await freePort()
  const url = `https://127.0.0.1:${port}`
  const args = [
    `--data-dir=${join(stage.folder, 'etcd')}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    '--listen-peer-urls=http://127.0.0.1:0',
    `--cert-file=${stage.write('etcd.crt', server.certificate)}`,
    `--key-file=${stage.write('etcd.key', server.key)}`,
    '--client-cert-auth',
    `--trusted-ca-file=${ca}`,
    // Its data must survive SIGKILL, but not a crash of the machine.
    '--unsafe-no-fsync',
    '--log-level=warn',
  ]
  const start = async (): Promise<Program> => {
    const started = new Program({ ...stage, name: 'etcd', path: stage.programs.etcd, args })
    await started.untilReady(() => accepts(port))
    return started
  }
  let program = await start()
  return {
    get program() {
      return program
    },
    async run() {
      program = await start()
    },
    flags: [
      `--etcd-servers=${url}`,
      `--etcd-cafile=${ca}`,
      `--etcd-certfile=${stage.write('etcd-client.crt', client.certificate)}`,
      `--etcd-keyfile=${stage.write('etcd-client.key', client.key)}`,
    ],
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const end = (does: boolean): void => {
      socket.destroy()
      resolve(does)
    }
    socket.once('connect', () => end(true)).once('error', () => end(false))
  })
}
