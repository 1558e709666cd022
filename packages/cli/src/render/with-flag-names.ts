import { isFlagName } from '../flags/flag-table.ts'

const TIMEOUTS = /policy\.(?:interactiveTimeoutMs or policy\.)?pluginTimeoutMs/
const OPTION = /\b([Oo])ption ([a-z][A-Za-z]*)/g

/**
 * Replaces the names of library options in a message or hint by the flags of the program.
 *
 * @param limit How the program sets the time limit of plugins.
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
