import { isFlagName } from '../flags/flag-table.ts'

const TIMEOUTS = /policy\.(?:interactiveTimeoutMs or policy\.)?pluginTimeoutMs/
const OPTION = /\b([Oo])ption ([a-z][A-Za-z]*)/g

/**
 * A message or hint of the library for users of a program, which has flags where the library has options.
 *
 * @param limit How the time limit of plugins is set there.
 */
export function withFlagNames(
  text: string,
  limit = '--plugin-timeout or KUBECRED_PLUGIN_TIMEOUT',
): string {
  return text
    .replace(TIMEOUTS, `the limit with ${limit}`)
    .replace(OPTION, (whole, o: string, option: string) => {
      const name = option
        .replace('asGroups', 'asGroup')
        .replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
      return isFlagName(name) ? `${o === 'O' ? 'Flag' : 'flag'} --${name}` : whole
    })
}
