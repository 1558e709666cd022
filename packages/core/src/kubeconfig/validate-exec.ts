import {
  API_VERSIONS,
  INTERACTIVE_MODES,
  isApiVersion,
  isInteractiveMode,
} from '../protocol/exec-config.ts'
import type { ExecEntry, UserEntry } from './kubeconfig.ts'
import type { Problem } from './problem.ts'
import { quoteName } from './quote-name.ts'
import { hasStaticMethod } from './user-methods.ts'

/** Lists what makes the `exec` stanza of a user unusable; `what` continues the name of the entry. */
export function execProblems(user: UserEntry): readonly Problem[] {
  const { exec } = user
  if (exec === undefined) return []
  return [...commandProblems(exec), ...versionProblems(exec, user), ...modeProblems(exec)]
}

function commandProblems(exec: ExecEntry): Problem[] {
  const problems: Problem[] = []
  if (exec.command === undefined) {
    problems.push({
      what: 'has an exec plugin without a command',
      remedy: 'Add exec.command with the name or path of the plugin.',
    })
  }
  for (const [index, variable] of exec.env.entries()) {
    if (variable.name !== undefined) continue
    problems.push({
      what: `has a variable without a name at exec.env[${index}]`,
      remedy: 'Give each item of exec.env a name and a value.',
    })
  }
  return problems
}

function versionProblems({ apiVersion }: ExecEntry, user: UserEntry): Problem[] {
  // A version we do not speak matters only if the plugin will be asked.
  if (apiVersion !== undefined && (isApiVersion(apiVersion) || hasStaticMethod(user))) return []
  return [
    {
      what:
        apiVersion === undefined
          ? 'has an exec plugin without an apiVersion'
          : `has an exec plugin with the unknown apiVersion ${quoteName(apiVersion)}`,
      remedy: `Set exec.apiVersion to one of ${API_VERSIONS.join(', ')}.`,
    },
  ]
}

function modeProblems({ apiVersion, interactiveMode }: ExecEntry): Problem[] {
  const remedy = `Set exec.interactiveMode to one of ${INTERACTIVE_MODES.join(', ')}.`
  if (interactiveMode === undefined) {
    // Only v1 asks for it; an unknown version has a problem of its own.
    if (apiVersion !== API_VERSIONS[0]) return []
    return [{ what: 'has a v1 exec plugin without an interactiveMode', remedy }]
  }
  if (isInteractiveMode(interactiveMode)) return []
  const what = `has an exec plugin with the unknown interactiveMode ${quoteName(interactiveMode)}`
  return [{ what, remedy }]
}
