import { ExecInfoError } from '../../errors/index.ts'
import { parseJson } from '../../formats/json.ts'
import { hostEnvironment } from '../../node/environment.ts'
import { decodeExecInfo, type PluginInfo } from '../exec-info.ts'

/**
 * Reads the input of this plugin from `KUBERNETES_EXEC_INFO`, or from the given text.
 *
 * Accepts v1, v1beta1 and both forms of v1alpha1, as JSON or YAML. `cluster` is undefined without
 * `provideClusterInfo: true` in the kubeconfig.
 *
 * @throws {ExecInfoError} `ERR_EXEC_INFO` with the name of the invalid field, never its value.
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

/** Neither parser quotes the text, which may contain secrets. */
async function parse(text: string): Promise<unknown> {
  const isJson = text.startsWith('{')
  try {
    return isJson ? parseJson(text) : await parseAsYaml(text)
  } catch (cause) {
    const format = isJson ? 'incomplete or broken JSON' : 'neither JSON nor YAML'
    throw new ExecInfoError('', `contains ${format}: ${(cause as Error).message}`, { cause })
  }
}

/** Clients write JSON. The YAML parser is loaded lazily, because it takes longer to load than everything else. */
async function parseAsYaml(text: string): Promise<unknown> {
  const { parseYaml } = await import('../../formats/yaml.ts')
  return parseYaml(text)
}
