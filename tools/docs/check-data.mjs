// Parses yaml and json blocks, and reads what is ours with our own parsers: kubeconfigs and parts of them, what a plugin
// gets and answers, and kubectl's preferences.
import { parseYaml } from '../../packages/core/dist/formats/yaml.js'
import { parseKubeconfig } from '../../packages/core/dist/kubeconfig/parse-kubeconfig.js'
import { userProblems } from '../../packages/core/dist/kubeconfig/validate.js'
import { decodeExecCredential } from '../../packages/core/dist/plugin/exec-credential.js'
import { decodeExecInfo } from '../../packages/core/dist/plugin/exec-info.js'
import { parseKuberc } from '../../packages/core/dist/plugin/kuberc.js'
import { checkCommand } from './check-commands.mjs'

const LANGUAGES = ['yaml', 'yml', 'json']

/** Returns what is wrong as `{ path, line, message }`. */
export function checkData({ path, blocks }) {
  return blocks
    .filter(({ language }) => LANGUAGES.includes(language))
    .flatMap(({ line, text, language }) =>
      problemsOf(text, language).map((message) => ({ path, line, message })),
    )
}

/** Checks a file, such as one of the examples. */
export function problemsOf(text, language) {
  try {
    if (language === 'json') return readData(JSON.parse(text), text)
    return text.split(/^---$/m).flatMap((document) => readData(parseYaml(document), document))
  } catch (error) {
    return [error.message]
  }
}

function readData(data, text) {
  const { kind } = data ?? {}
  if (kind === 'ExecCredential') return readExec(data, text)
  if (kind === 'Preference') return parseKuberc(text, 'kuberc') && []
  const isPart = data?.users !== undefined || data?.clusters !== undefined
  if (kind === 'Config' || isPart) return readUsers(parseKubeconfig(data, 'the kubeconfig'))
  if (data?.exec !== undefined)
    return readUsers(parseKubeconfig({ users: [{ name: 'page', user: data }] }, 'the stanza'))
  return []
}

function readExec(data, text) {
  const { apiVersion } = data
  if (data.status === undefined) decodeExecInfo(data)
  else decodeExecCredential(new TextEncoder().encode(text), { apiVersion, command: 'page' })
  return []
}

function readUsers({ users }) {
  return [...users.values()].flatMap((user) => [
    ...userProblems(user).map(({ what }) => what),
    ...commandProblems(user.exec),
  ])
}

function commandProblems(exec) {
  if (exec?.command === undefined) return []
  const args = exec.args.map((each) => each.expose())
  return [checkCommand(exec.command, args)].filter((problem) => problem !== undefined)
}
