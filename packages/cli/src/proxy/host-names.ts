import { UsageError } from '../usage-error.ts'

const NAME = /^(?:[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/

/**
 * Parses a comma-separated list of host names.
 *
 * kubectl takes regular expressions here. One that matches a single name, such as `^localhost$`, is accepted; others
 * could match names that were not intended.
 *
 * @throws {UsageError} If an entry is not a host name.
 */
export function readHostNames(text: string | undefined): readonly string[] {
  return (text ?? '').split(',').filter(Boolean).map(readName)
}

function readName(text: string): string {
  const name = text.trim().replace(/^\^/, '').replace(/\$$/, '').replaceAll('\\', '')
  if (NAME.test(name)) return name
  throw new UsageError(
    `flag --accept-hosts takes names such as proxy.example or proxy.example:8001, separated by commas, not ${JSON.stringify(text)}`,
  )
}

/** Returns the accepted values of the Host header: a name without a port is accepted with our port and without one. */
export function asHosts(names: readonly string[], port: number): string[] {
  return names.flatMap((name) => (/:\d+$/.test(name) ? [name] : [name, `${name}:${port}`]))
}
