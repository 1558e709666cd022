import type { Connection } from '../../kubeconfig/connection.ts'
import { isInPod } from '../../kubeconfig/in-cluster.ts'
import {
  loadConnection,
  readKubeconfigs,
  readRegularKubeconfig,
} from '../../node/load-kubeconfig.ts'
import type { ConnectOptions } from '../connect-options.ts'
import type { Look } from './finding.ts'

type Environment = Readonly<Record<string, string | undefined>>

const FROM = {
  flag: 'named on the command line',
  KUBECONFIG: 'named by KUBECONFIG',
  home: 'in the home folder',
} as const

/** Which files there are, and what is in them. */
export async function lookAtFiles(options: ConnectOptions, env: Environment): Promise<Look> {
  const { places, configs, missing } = await readKubeconfigs({
    kubeconfig: options.kubeconfig,
    env,
    // A pipe can be read once, and the next step needs it too.
    readFile: readRegularKubeconfig,
  })
  const { from, files } = places
  const contexts = new Set(configs.flatMap((config) => [...config.contexts.keys()]))
  const [only] = files
  if (files.length === 1 && configs.length === 1) {
    return {
      verdict: 'good',
      summary: `${only} (${FROM[from]}), ${count(contexts.size, 'context')}`,
    }
  }
  const details = [
    ...files.map((file) => `${file}: ${missing.includes(file) ? 'does not exist' : 'read'}`),
    ...(configs.length > 1 ? ['For a name that is in several files, the first one counts.'] : []),
  ]
  if (configs.length > 0) {
    const summary = `${count(configs.length, 'file')} ${FROM[from]}, ${count(contexts.size, 'context')}`
    return { verdict: missing.length > 0 ? 'odd' : 'good', summary, details }
  }
  if (isInPod(env)) return { verdict: 'good', summary: 'none; we run in a pod', details }
  return {
    verdict: options.server === undefined ? 'odd' : 'good',
    summary: files.length === 0 ? 'no file to look in: HOME is not set' : 'no file',
    details,
  }
}

/** Which cluster, user and namespace that means. */
export async function lookAtContext(
  options: ConnectOptions,
  env: Environment,
): Promise<{ look: Look; connection: Connection }> {
  const { kubeconfig } = options
  const connection = await loadConnection({ kubeconfig, overrides: options, env })
  const { context, cluster, user, namespace, warnings } = connection
  const where = context === undefined ? 'no context' : `context ${JSON.stringify(context)}`
  const look: Look = {
    verdict: warnings.length > 0 ? 'odd' : 'good',
    summary: `${where}, server ${cluster.server}`,
    details: [
      [
        cluster.name === undefined ? [] : [`cluster ${JSON.stringify(cluster.name)}`],
        user.name === undefined ? [] : [`user ${JSON.stringify(user.name)}`],
        [`namespace ${JSON.stringify(namespace)}`],
      ]
        .flat()
        .join(', '),
      ...warnings,
    ],
  }
  return { look, connection }
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}
