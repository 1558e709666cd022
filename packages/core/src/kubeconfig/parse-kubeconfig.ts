import { Fields } from './fields.ts'
import type { ContextEntry, Kubeconfig } from './kubeconfig.ts'
import { parseCluster } from './parse-cluster.ts'
import { type EntryHead, parseExtensions, parseNamedList } from './parse-named-list.ts'
import { parseUser } from './parse-user.ts'

/** What messages call configuration that came from no file. */
const NO_FILE = '<given>'

/**
 * Turns parsed YAML into a kubeconfig.
 *
 * Types are checked everywhere, as client-go does by decoding the whole file; whether an entry makes sense is
 * checked only once it is selected. Secrets are boxed here, before anything else sees them.
 *
 * @param file Absolute path of the file of origin; undefined when there is none.
 * @throws {KubeconfigSyntaxError} Names file, entry and field, what was expected and what type came.
 */
export function parseKubeconfig(data: unknown, file?: string): Kubeconfig {
  const root = new Fields(data, file ?? NO_FILE, () => '')
  checkWord(root, 'apiVersion', 'v1')
  checkWord(root, 'kind', 'Config')
  return {
    clusters: parseNamedList(root, 'clusters', 'cluster', file, parseCluster),
    users: parseNamedList(root, 'users', 'user', file, parseUser),
    contexts: parseNamedList(root, 'contexts', 'context', file, parseContext),
    currentContext: root.text('current-context'),
    extensions: parseExtensions(root),
    files: file === undefined ? [] : [file],
  }
}

function checkWord(root: Fields, key: string, expected: string): void {
  const word = root.text(key)
  if (word === undefined || word === expected) return
  throw root.error(
    key,
    `must be "${expected}"`,
    'Check that the file is a kubeconfig and not some other Kubernetes manifest.',
  )
}

function parseContext(fields: Fields, { name, file }: EntryHead): ContextEntry {
  return {
    name,
    file,
    cluster: fields.text('cluster'),
    user: fields.text('user'),
    namespace: fields.text('namespace'),
    extensions: parseExtensions(fields),
  }
}
