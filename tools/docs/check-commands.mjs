// Checks that commands on the pages exist, with the flags they use: by the parsers of the programs themselves.
import { readFileSync } from 'node:fs'
import { COMMANDS } from '../../packages/cli/dist/command-table.js'
import { GLOBAL_FLAGS } from '../../packages/cli/dist/flags/flag-table.js'
import { parseCommandLine } from '../../packages/cli/dist/flags/parse-command-line.js'
import { readArguments } from '../../packages/cli/dist/token-program/read-arguments.js'
import { parseCommandLine as parsePkcs11 } from '../../packages/pkcs11/dist/command-line.js'

const LANGUAGES = ['', 'sh', 'bash', 'shell', 'console']

const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

const PROGRAMS = {
  kubecred: checkKubecred,
  'kubecred-token': readArguments,
  'kubecred-pkcs11': checkPkcs11,
  npm: checkNpm,
}

/** Returns what is wrong with commands in blocks and in code spans as `{ path, line, message }`. */
export function checkCommands({ path, blocks, prose }) {
  const lines = blocks
    .filter(({ language }) => LANGUAGES.includes(language))
    .flatMap(({ line, text }) =>
      commandsOf(text).map((each) => ({ line: line + each.at, text: each.text })),
    )
  return [...lines, ...codeSpans(prose)].flatMap(({ line, text }) => {
    const problem = checkLine(text)
    return problem === undefined ? [] : { path, line, message: `${problem}: ${text.trim()}` }
  })
}

/** Checks a program and its arguments; undefined if there is nothing wrong, or the program is not ours. */
export function checkCommand(program, args) {
  try {
    if (Object.hasOwn(PROGRAMS, program)) PROGRAMS[program](args)
    return undefined
  } catch (error) {
    return error.message
  }
}

/** The lines of a block that are commands: those behind `$ ` if there are any, else all. */
function commandsOf(text) {
  const lines = text.split('\n').map((line, at) => ({ at, text: line }))
  const prompted = lines.filter((line) => /^\s*\$ /.test(line.text))
  const chosen = prompted.length > 0 ? prompted : lines
  return chosen.map(({ at, text: line }) => {
    let whole = line.replace(/^\s*\$ /, '')
    for (let next = at + 1; whole.endsWith('\\'); next += 1) {
      whole = whole.slice(0, -1) + (lines[next]?.text ?? '')
    }
    return { at, text: whole }
  })
}

/** Commands in the text, without those that leave something out. */
function codeSpans(prose) {
  return prose.flatMap((line, at) =>
    [...line.matchAll(/`(kubecred[^`]* [^`]+|npm (?:run|test|start)[^`]*)`/g)]
      .map(([, text]) => ({ line: at + 1, text }))
      .filter(({ text }) => !/[…[\]|]/.test(text)),
  )
}

function checkLine(text) {
  // `kubecred proxy: …` is what a program says.
  if (/^\s*kubecred[\w-]*(?: \w+)?:/.test(text)) return undefined
  for (const words of splitWords(text)) {
    while (/^(?:[A-Z_]+=|sudo$|exec$)/.test(words[0] ?? '')) words.shift()
    const [program, ...args] = words
    const problem = checkCommand(program, args)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Splits a line of shell into commands and their words, as far as pages need it. */
function splitWords(line) {
  const commands = [[]]
  for (const [token] of line.matchAll(
    /'[^']*'|"[^"]*"|\d?>{1,2}&?|[|&;()]+|\s#.*|(?:[^\s'"|&;()>]|\\.)+/g,
  )) {
    if (/^\s#/.test(token)) break
    if (/^[|&;()]/.test(token)) commands.push([])
    else commands.at(-1).push(token.replace(/^(['"])(.*)\1$/, '$2'))
  }
  // What follows a redirection is a file.
  return commands.map((words) => {
    const end = words.findIndex((word) => /^\d?>/.test(word))
    return end === -1 ? words : words.slice(0, end)
  })
}

function checkKubecred(argv) {
  const names = COMMANDS.map(({ name }) => name)
  const foreign = COMMANDS.filter(({ isForeign }) => isForeign).map(({ name }) => name)
  const { command, args, flags } = parseCommandLine(argv, names, foreign)
  // `COMMAND` stands for any of them.
  if (command === undefined || command === 'COMMAND') return
  const found = COMMANDS.find(({ name }) => name === command)
  if (found === undefined) throw new Error(`unknown command ${command}`)
  const unknown = flags.names.find(
    (flag) => !(GLOBAL_FLAGS.includes(flag) || found.flags.includes(flag)),
  )
  if (unknown !== undefined) throw new Error(`${command} has no flag --${unknown}`)
  if (args.length > found.arity[1]) throw new Error(`unexpected argument ${args.at(-1)}`)
}

function checkPkcs11(argv) {
  try {
    parsePkcs11(argv)
  } catch (error) {
    // A page may name a command without all that it needs.
    if (!/^\w+ requires /.test(error.message)) throw error
  }
}

function checkNpm([verb, script]) {
  const name = verb === 'run' ? script : verb
  const isScript = verb === 'run' || verb === 'test' || verb === 'start'
  if (isScript && name !== undefined && !Object.hasOwn(scripts, name)) {
    throw new Error(`there is no script ${name}`)
  }
}
