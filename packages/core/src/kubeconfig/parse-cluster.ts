import type { Fields } from './fields.ts'
import type { ClusterEntry } from './kubeconfig.ts'
import { type EntryHead, parseExtensions } from './parse-named-list.ts'

/** Reads the body of an entry of `clusters`. */
export function parseCluster(fields: Fields, { name, file }: EntryHead): ClusterEntry {
  return {
    name,
    file,
    server: fields.text('server'),
    tlsServerName: fields.text('tls-server-name'),
    insecureSkipTlsVerify: fields.flag('insecure-skip-tls-verify'),
    certificateAuthority: fields.text('certificate-authority'),
    certificateAuthorityData: fields.data('certificate-authority-data'),
    proxyUrl: fields.secret('proxy-url'),
    disableCompression: fields.flag('disable-compression'),
    extensions: parseExtensions(fields),
  }
}
