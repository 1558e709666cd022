import { connect } from 'node:net'
import { join } from 'node:path'
import { issue, makeAuthority } from './certificates.ts'
import { freePort } from './free-port.ts'
import { Program } from './program.ts'
import { LOOPBACK, type Stage } from './stage.ts'

/** A running etcd, and the flags of its client. */
export interface Etcd {
  readonly program: Program
  /** Flags for kube-apiserver. */
  readonly flags: readonly string[]
}

/** Starts etcd with client certificates, so that other users of this machine cannot read the secrets in it. */
export async function startEtcd(stage: Stage): Promise<Etcd> {
  const authority = await makeAuthority('etcd-ca')
  const server = await issue('etcd-ca', authority, { user: 'etcd', names: LOOPBACK })
  const client = await issue('etcd-ca', authority, { user: 'kube-apiserver' })
  const ca = stage.write('etcd-ca.crt', authority.certificate)
  const port = await freePort()
  const url = `https://127.0.0.1:${port}`
  const program = new Program({
    ...stage,
    name: 'etcd',
    path: stage.programs.etcd,
    args: [
      `--data-dir=${join(stage.folder, 'etcd')}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      '--listen-peer-urls=http://127.0.0.1:0',
      `--cert-file=${stage.write('etcd.crt', server.certificate)}`,
      `--key-file=${stage.write('etcd.key', server.key)}`,
      '--client-cert-auth',
      `--trusted-ca-file=${ca}`,
      // Its data need not survive a crash.
      '--unsafe-no-fsync',
      '--log-level=warn',
    ],
  })
  await program.untilReady(() => accepts(port))
  return {
    program,
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
