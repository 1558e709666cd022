import { KubeconfigSyntaxError } from '../errors/kubeconfig-errors.ts'
import { parseYaml, YamlError } from '../protocol/yaml.ts'
import type { Kubeconfig } from './kubeconfig.ts'
import { parseKubeconfig } from './parse-kubeconfig.ts'

/**
 * Turns the text of a kubeconfig file into a kubeconfig.
 *
 * @throws {KubeconfigSyntaxError} Names the line or the field; the text holds secrets and is never quoted.
 */
export function parseKubeconfigText(text: string, file: string): Kubeconfig {
  return parseKubeconfig(readYaml(text, file), file)
}

function readYaml(text: string, file: string): unknown {
  try {
    return parseYaml(text)
  } catch (error) {
    // Only a YamlError is known to hold no piece of the text.
    const reason = error instanceof YamlError ? error.message : 'it cannot be read as YAML'
    throw new KubeconfigSyntaxError(file, reason, {
      hint: 'Check that the file is a kubeconfig, and that its quotes and brackets are closed.',
    })
  }
}
