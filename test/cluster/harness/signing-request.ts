import { spawnSync } from 'node:child_process'

/** Returns a PKCS#10 request, as PEM, for the key in a file. Made by OpenSSL, because Node cannot. */
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
