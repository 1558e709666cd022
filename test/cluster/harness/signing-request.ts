import { spawnSync } from 'node:child_process'

/** A PKCS#10 request for the key in this file, as PEM. OpenSSL makes it: Node cannot. */
export function makeSigningRequest(
  keyFile: string,
  user: string,
  groups: readonly string[],
): string {
  const subject = [`/CN=${user}`, ...groups.map((group) => `/O=${group}`)].join('')
  const args = ['req', '-new', '-key', keyFile, '-subj', subject]
  const { status, stdout, stderr } = spawnSync('openssl', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`openssl req: ${stderr}`)
  return stdout
}
