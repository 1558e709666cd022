import { expect, it } from 'vitest'

interface Found {
  readonly line: number
  readonly message: string
}
type Check<A extends readonly unknown[]> = (...args: A) => readonly Found[]
type Page = unknown

const root = new URL('../../../../', import.meta.url)
const load = (name: string): Promise<unknown> =>
  import(new URL(`tools/docs/${name}.mjs`, root).href)
const tools = Object.assign(
  {},
  ...(await Promise.all(
    ['read-page', 'check-code', 'check-commands', 'check-data', 'check-links'].map(load),
  )),
) as {
  readPage(path: string, text: string): Page
  checkCode: Check<[URL, readonly Page[]]>
  checkCommands: Check<[Page]>
  checkData: Check<[Page]>
  checkLinks: Check<[URL, readonly Page[]]>
}

/** Checks a page whose blocks and lines are given, and returns what was found on it. */
function check(...lines: readonly string[]): readonly string[] {
  const page = tools.readPage('docs/page.md', lines.join('\n'))
  const isOnPage = (found: Found & { readonly path?: string }) => found.path === 'docs/page.md'
  return [
    ...tools.checkCode(root, [page]).filter(isOnPage),
    ...tools.checkCommands(page),
    ...tools.checkData(page),
    ...tools.checkLinks(root, [page]),
  ].map(({ line, message }) => `${line}: ${message}`)
}

const IMPORT = "import { connect } from 'kubecred'"

it.each([
  [
    'an option that does not exist',
    ['```ts', IMPORT, "await connect({ contxt: 'a' })", '```'],
    '3: TS2561',
  ],
  ['a name that was not declared', ['```js', 'missing()', '```'], '2: TS2304'],
  ['a continued block', ['```js', IMPORT, '```', '', '```js', 'connect().x', '```'], '6: TS2339'],
  [
    'a name that another program of the page does not export',
    [
      ...['```js', '// one.mjs', 'export const one = 1', '```'],
      ...['```js', "import { two } from './one.mjs'", '```'],
    ],
    '6: TS2305',
  ],
  ['a package that does not exist', ['```js', "import 'expres'", '```'], '2: TS2882'],
  ['a command', ['```', 'kubecred docter', '```'], '2: unknown command'],
  [
    'a flag of another command',
    ['```sh', '$ kubecred status --port 1', '```'],
    '2: status has no flag',
  ],
  ['a flag in the text', ['Try `kubecred fetch /version --colour`.'], '1: unknown flag'],
  [
    'a flag of kubecred-token',
    ['```', 'kubecred-token --bad 1 -- x', '```'],
    '2: unexpected argument',
  ],
  ['a flag of kubecred-pkcs11', ['```', 'kubecred-pkcs11 list --bad', '```'], '2: Unknown option'],
  ['a script', ['```', 'npm run nothing', '```'], '2: there is no script nothing'],
  ['yaml', ['```yaml', 'a: [1', '```'], '2: '],
  ['a stanza', ['```yaml', 'exec: { apiVersion: v9, command: x }', '```'], '2: user "page"'],
  ['what a plugin gets', ['```json', '{ "kind": "ExecCredential", "spec": {} }', '```'], '2: '],
  ['a link', ['[nowhere](nowhere.md)'], '1: there is no nowhere.md'],
  ['an anchor', ['[nothing](#nothing)'], '1: there is no heading #nothing'],
])('the check of the pages finds %s', (_what, lines, expected) => {
  expect(check(...lines)).toEqual([expect.stringContaining(expected)])
})

it('the check of the pages accepts what is right, given or not checked', () => {
  const page = [
    ...['# Page', '[here](#page) [code](../tools/check-docs.mjs)'],
    ...['```ts', IMPORT, 'const cluster = await connect()', '```', ''],
    ...['```ts', "const cluster = await connect({ context: 'prod' })", '```', ''],
    ...[
      '<!-- given: log -->',
      '',
      '```js',
      'import process from "node:process"',
      'log(process.pid)',
      '```',
      '',
    ],
    ...['```js', '// names.mjs', 'export const names = []', '```', ''],
    ...['```js', "import express from 'express'", "import { names } from './names.mjs'"],
    ...['express().send(names)', '```', ''],
    ...['<!-- not checked: it is wrong -->', '', '```js', 'missing()', '```', ''],
    ...['```', 'kubecred run -- kubectl get --bad # not ours', '```', ''],
    ...['```', '$ kubecred whoami', 'kubecred is not a command here', '```'],
  ]
  expect(check(...page)).toEqual([])
})
