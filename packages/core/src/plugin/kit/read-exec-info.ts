import { ExecInfoError } from '../../errors/index.ts'
import { parseJson } from '../../formats/json.ts'
import { hostEnvironment } from '../../node/environment.ts'
import { decodeExecInfo, type PluginInfo } from '../exec-info.ts'

/**
 * Reads what the client told this plugin: `KUBERNETES_EXEC_INFO`, or the given text in its place.
 *
 * Takes v1, v1beta1 and both forms of v1alpha1, as JSON or YAML. Without `provideClusterInfo: true` in the
 * kubeconfig `cluster` is undefined, which is no mistake.
 *
 * @throws {ExecInfoError} Names the field that is wrong, never its value.
 *
 * @example
 * const { apiVersion, cluster } = await readExecInfo()
 */
export async function readExecInfo(
  data: string | undefined = hostEnvironment()['KUBERNETES_EXEC_INFO'],
): Promise<PluginInfo> {
  const text = data?.trim() ?? ''
  if (text === '') {
    throw new ExecInfoError('', 'is unset or empty', {
      hint: `Name this program in exec.command of a kubeconfig and let the client start it; to try it by hand: export KUBERNETES_EXEC_INFO='${SAMPLE}'.`,
    })
  }
  return decodeExecInfo(await parse(text))
}

const SAMPLE =
  '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false}}'

/** Neither reader quotes the text, which may hold what nobody should see. */
async function parse(text: string): Promise<unknown> {
  const isJson = text.startsWith('{')
  try {
    return isJson ? parseJson(text) : await parseAsYaml(text)
  } catch (cause) {
    const format = isJson ? 'incomplete or broken JSON' : 'neither JSON nor YAML'
    throw new ExecInfoError('', `holds ${format}: ${(cause as Error).message}`, { cause })
  }
}

/** Clients write JSON; the reader for YAML takes longer to load than all the rest. */
async function parseAsYaml(text: string): Promise<unknown> {
  const { parseYaml } = await import('../../formats/yaml.ts')
  return parseYaml(text)
}
