/**
 * Splits the value of KUBECONFIG into paths: empty elements are skipped, repeated ones counted once.
 *
 * @param separator `:`, or `;` on Windows, where quotes protect a separator inside a path.
 */
export function splitKubeconfigList(value: string, separator: string): readonly string[] {
  const elements = separator === ';' ? splitQuoted(value) : value.split(separator)
  return [...new Set(elements.filter((element) => element !== ''))]
}

function splitQuoted(value: string): readonly string[] {
  return (value.match(/(?:"[^"]*"|[^;])+/g) ?? []).map((element) => element.replaceAll('"', ''))
}
