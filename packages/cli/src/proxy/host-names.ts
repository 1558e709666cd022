import { UsageError } from '../usage-error.ts'

const NAME = /^(?:[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/

/**
 * Reads names of hosts, separated by commas.
 *
 * kubectl takes regular expressions here. One that is meant for a single name is understood, such as
 * `^localhost$`; any other would let names pass that nobody thought of.
 *
 * @throws {UsageError}
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

/** The same as they may stand in a Host header: where no port is said, with ours and without any. */
export function asHosts(names: readonly string[], port: number): string[] {
  return names.flatMap((name) => (/:\d+$/.test(name) ? [name] : [name, `${name}:${port}`]))
}
