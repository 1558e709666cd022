import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseKubeconfigText } from 'kubecred/internal'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runFake } from '../run-fake.ts'

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubecred-wrap-'))
  file = join(folder, 'config')
  const program = join(folder, 'kubecred-token')
  writeFileSync(program, '#!/bin/sh\n')
  chmodSync(program, 0o755)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const wrap = (...args: string[]) =>
  runFake(['wrap', '--kubeconfig', file, '--yes', ...args], { env: { PATH: folder } })

const HEAD = `current-context: dev
contexts:
- {name: dev, context: {cluster: k, user: dev}}
- {name: prod, context: {cluster: k, user: prod}}
clusters: [{name: k, cluster: {server: "https://127.0.0.1:1"}}]
`
const PROD = '- {name: prod, user: {exec: {command: other, args: [x]}}}\n'
const DEV = `- name: dev
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: aws
      args:
      - eks # first
      - get-token
`
const PLAIN = `${HEAD}users:\n${DEV}${PROD}`
const withExec = (exec: string): string =>
  `${HEAD}users:\n- name: dev\n  user:\n    exec:${exec}${PROD}`

/** Files that `wrap` changes and `--undo` restores. */
const CHANGED: readonly (readonly [string, string])[] = [
  ['with CRLF', PLAIN.replaceAll('\n', '\r\n')],
  ['with a byte order mark', `\u{feff}${PLAIN}`],
  ['with a byte order mark and CRLF', `\u{feff}${PLAIN.replaceAll('\n', '\r\n')}`],
  ['without a last line break', `${HEAD}users:\n${PROD}${DEV}`.trimEnd()],
  ['with document markers', `%YAML 1.1\n---\n${PLAIN}...\n`],
  ['with a second document', `${PLAIN}---\nusers: [{name: dev, user: {exec: {command: z}}}]\n`],
  [
    'as one line of JSON',
    JSON.stringify({
      'current-context': 'dev',
      contexts: [{ name: 'dev', context: { cluster: 'k', user: 'dev' } }],
      users: [{ name: 'dev', user: { exec: { command: 'aws', args: ['eks'] } } }],
    }),
  ],
  [
    'with a flow list over lines',
    withExec(
      '\n      command: aws\n      args: [ # why\n        a,\n        b, # last\n        ]\n',
    ),
  ],
  ['with quoted keys', withExec('\n      "command": \'aws\'\n      "args": ["a"]\n')],
  [
    'with the arguments at the indentation of their key',
    withExec('\n      command: aws\n      args:\n      - a\n'),
  ],
  [
    'with more indentation',
    withExec('\n          command:   aws\n          args:\n            -   a\n            -   b\n'),
  ],
  [
    'with a block scalar as an argument',
    withExec(
      '\n      command: aws\n      args:\n      - |\n        two\n        lines\n      - b\n',
    ),
  ],
  ['with empty arguments', withExec('\n      command: aws\n      args: []\n')],
  ['with arguments of null', withExec('\n      command: aws\n      args:\n')],
  ['with the arguments first', withExec('\n      args: [a]\n      command: aws\n')],
  [
    'with anchors that nothing uses',
    withExec(' &e\n      command: &c aws\n      args: &a\n      - &f a\n'),
  ],
  [
    'with names of object members',
    PLAIN.replace('- name: dev\n', '- name: dev\n  __proto__: {user: 1}\n  constructor: 1\n'),
  ],
]

/** Files that are changed or refused, but never damaged. */
const ODD: readonly (readonly [string, string])[] = [
  [
    'with a merge key',
    `base: &b {command: aws, args: [a]}\n${withExec('\n      <<: *b\n      interactiveMode: Never\n')}`,
  ],
  [
    'with an alias as the command',
    `c: &c aws\n${withExec('\n      command: *c\n      args: [a]\n')}`,
  ],
  [
    'with an alias as an argument',
    `c: &c a\n${withExec('\n      command: aws\n      args: [*c, b]\n')}`,
  ],
  [
    'with an alias as the arguments',
    `c: &c [a, b]\n${withExec('\n      command: aws\n      args: *c\n')}`,
  ],
  [
    'with a command that others refer to',
    withExec('\n      command: &c aws\n      installHint: *c\n      args: [a]\n'),
  ],
  [
    'with arguments that others refer to',
    `${withExec('\n      command: aws\n      args: &a [a]\n')}more: *a\n`,
  ],
  [
    'with a whole entry by alias',
    `${HEAD}e: &e {exec: {command: aws}}\nusers:\n- name: dev\n  user: *e\n${PROD}`,
  ],
  ['with explicit keys', withExec('\n      ? command\n      : aws\n      ? args\n      : [a]\n')],
  [
    'with repeated keys',
    withExec('\n      command: one\n      command: aws\n      args: [a]\n      args: [b]\n'),
  ],
  ['with tags', withExec('\n      command: !!str aws\n      args: !!seq [a]\n')],
  ['with a folded command', withExec('\n      command: >-\n        aws\n      args: [a]\n')],
  ['with a trailing comma', withExec('\n      command: aws\n      args: [a, ]\n')],
  ['with line breaks of CR only', PLAIN.replaceAll('\n', '\r')],
  ['with mixed line breaks', PLAIN.replace('command: aws\n', 'command: aws\r\n')],
  ['with tabs after values', PLAIN.replace('command: aws', 'command: aws\t# v2')],
  ['with an escaped command', withExec('\n      command: "a\\x77s"\n      args: ["\\u0061"]\n')],
  ['with a line separator', withExec('\n      command: "aws\u2028"\n      args: ["\u0085"]\n')],
]

/** The data of the file, without the stanza that `wrap` changes. */
function others(text: string): unknown {
  const { users, contexts, clusters } = parseKubeconfigText(text.replace(/^\u{feff}/u, ''), file)
  const rest = [...users].filter(([name]) => name !== 'dev')
  return JSON.stringify([rest, [...contexts], [...clusters]])
}

function commandOf(text: string): readonly (string | undefined)[] {
  const { users } = parseKubeconfigText(text.replace(/^\u{feff}/u, ''), file)
  const { command, args = [] } = users.get('dev')?.exec ?? {}
  return [command, ...args.map((arg) => arg.expose())]
}

/** Wraps and undoes; returns whether the file was changed in between. */
async function wrapAndUndo(text: string): Promise<'changed' | 'refused'> {
  writeFileSync(file, text)
  const { status, err } = await wrap()
  const between = readFileSync(file, 'utf8')
  if (status !== 0) {
    expect(between).toBe(text)
    expect(readdirSync(folder).sort()).toEqual(['config', 'kubecred-token'])
    expect(err).not.toContain('internal error')
    return 'refused'
  }
  expect(others(between)).toBe(others(text))
  expect(commandOf(between)).toEqual(['kubecred-token', '--', ...commandOf(text)])
  expect(await wrap('--undo')).toMatchObject({ status: 0 })
  expect(readFileSync(file, 'utf8')).toBe(text)
  expect(existsSync(`${file}.kubecred-backup`)).toBe(false)
  return 'changed'
}

describe('kubecred wrap of a file', () => {
  it.each(CHANGED)('%s is undone byte for byte', async (_, text) => {
    expect(await wrapAndUndo(text)).toBe('changed')
  })

  it.each(ODD)('%s is undone byte for byte, or refused and left alone', async (_, text) => {
    await wrapAndUndo(text)
  })

  it.each(CHANGED)('%s is undone without the backup', async (_, text) => {
    writeFileSync(file, text)
    expect((await wrap()).status).toBe(0)
    rmSync(`${file}.kubecred-backup`)
    expect((await wrap('--undo')).status).toBe(0)
    const undone = readFileSync(file, 'utf8')
    expect([commandOf(undone), others(undone)]).toEqual([commandOf(text), others(text)])
  })

  it.skipIf(process.platform === 'win32')('is undone with a named pipe as its backup', async () => {
    writeFileSync(file, PLAIN)
    execFileSync('mkfifo', [`${file}.kubecred-backup`])
    expect((await wrap()).status).toBe(0)
    expect((await wrap('--undo')).status).toBe(0)
    expect(commandOf(readFileSync(file, 'utf8'))).toEqual(['aws', 'eks', 'get-token'])
  })

  it('does not follow a link at the place of the backup', async () => {
    const precious = join(folder, 'precious')
    writeFileSync(precious, 'kept')
    writeFileSync(file, PLAIN)
    symlinkSync(precious, `${file}.kubecred-backup`)
    await wrap()
    await wrap('--undo')
    expect(readFileSync(precious, 'utf8')).toBe('kept')
    expect(commandOf(readFileSync(file, 'utf8'))).toEqual(['aws', 'eks', 'get-token'])
  })
})
