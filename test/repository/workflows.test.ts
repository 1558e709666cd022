import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { problemsOfWorkflow, type Tree } from './workflow-rules.ts'

const root = new URL('../../', import.meta.url)
const folder = new URL('.github/workflows/', root)
const files = readdirSync(folder)
const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'))
const tree: Tree = {
  scripts: Object.keys(scripts),
  hasFile: (path) => existsSync(new URL(path, root)),
}

interface Update {
  readonly 'package-ecosystem': string
  readonly directory?: string
  readonly directories?: readonly string[]
}

it.each(files)('the workflow %s follows every rule', (file) => {
  expect(problemsOfWorkflow(file, read(`.github/workflows/${file}`), tree)).toEqual([])
})

it('pins an action to one digest everywhere', () => {
  const lines = files.flatMap((file) => [
    ...read(`.github/workflows/${file}`).matchAll(/uses: (?<action>[^@\s]+)@(?<pin>.+)/g),
  ])
  const pins = new Map<string, Set<string>>()
  for (const { groups } of lines) {
    const action = groups?.['action'] ?? ''
    pins.set(action, (pins.get(action) ?? new Set<string>()).add(groups?.['pin'] ?? ''))
  }
  expect(pins.size).toBeGreaterThan(0)
  expect([...pins].filter(([, each]) => each.size > 1)).toEqual([])
})

it('runs on a hosted runner what .ci/run runs', () => {
  const stages = [...read('.ci/run').matchAll(/^ *stage (?<command>npm .+)$/gm)].map(
    ({ groups }) => groups?.['command'] ?? '',
  )
  const all = files.map((file) => read(`.github/workflows/${file}`)).join('\n')
  expect(stages.length).toBeGreaterThan(5)
  // Arguments may differ: a matrix has a job for each runtime.
  expect(stages.filter((stage) => !all.includes(`run: ${stage.split(' -- ')[0]}`))).toEqual([])
})

it('runs the matrix on every runtime of tools/matrix.mjs', () => {
  const { jobs } = parse(read('.github/workflows/test.yml'))
  const [versions = ''] = /NODES = .+/.exec(read('tools/matrix.mjs')) ?? []
  const majors = [...versions.matchAll(/'(?<major>\d+)\./g)].map(({ groups }) => groups?.['major'])
  expect(majors.length).toBeGreaterThan(1)
  expect(jobs.matrix.strategy.matrix.runtime).toEqual([...majors, 'bun', 'deno', 'windows'])
})

it('updates the dependencies of every folder that has some', () => {
  const { updates }: { updates: readonly Update[] } = parse(read('.github/dependabot.yml'))
  const updated = updates.flatMap((update) =>
    (update.directories ?? [update.directory ?? '']).map(
      (directory) => `${update['package-ecosystem']} ${directory}`,
    ),
  )
  expect(updated.toSorted()).toEqual(['github-actions /', ...ecosystems('.')].toSorted())
})

describe('a workflow', () => {
  const DIGEST = '0123456789abcdef0123456789abcdef01234567'
  const GOOD = `
on:
  push:
permissions: {}
concurrency:
  group: one
jobs:
  one:
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    permissions:
      contents: read
    steps:
      - uses: actions/checkout@${DIGEST} # v1.2.3
        with:
          persist-credentials: false
      - run: npm test && npm run check
      - run: node tools/bare.mjs
  two:
    permissions: {}
    uses: ./.github/workflows/test.yml
`

  it('that follows every rule is accepted', () => {
    expect(problemsOfWorkflow('one.yml', GOOD, tree)).toEqual([])
  })

  it.each([
    ['an action by its tag', `@${DIGEST}`, '@v1', 'one: not pinned by a digest'],
    ['a short digest', DIGEST, DIGEST.slice(1), 'one: not pinned by a digest'],
    ['a digest without its version', ' # v1.2.3', '', 'no version in a comment'],
    ['permissions for all jobs', 'permissions: {}', 'permissions: read-all', 'the workflow itself'],
    ['no concurrency group', 'group: one', 'cancel-in-progress: true', 'no concurrency group'],
    ['code of strangers with rights', 'push:', 'pull_request_target:', 'runs on pull_request_t'],
    ['no time limit', 'timeout-minutes: 5', 'name: one', 'one: no timeout-minutes'],
    ['a runner that changes', '24.04', 'latest', 'one: its runner changes'],
    ['a job without permissions', '    permissions:\n      contents: read\n', '', 'one: no perm'],
    [
      'a job that may publish more',
      'contents: read',
      'id-token: write',
      'one: may publish, and runs npm',
    ],
    ['a secret', 'npm test', `npm test \${{ secrets.A }}`, 'uses a secret'],
    ['all secrets', '    uses: ./', '    secrets: inherit\n    uses: ./', 'uses a secret'],
    ['an npm that changes', 'npm test', 'npm install --global npm', 'one: no script install'],
    ['a permission to write', 'contents: read', 'contents: write', 'one: may write contents'],
    ['a token that stays', 'persist-credentials: false', 'path: x', 'one: checkout keeps'],
    ['an expression in a script', 'npm test', `echo \${{ github.ref }}`, 'one: an expression'],
    ['a script that does not exist', 'npm run check', 'npm run chekc', 'one: no script chekc'],
    ['a tool that does not exist', 'bare.mjs', 'bear.mjs', 'one: no file tools/bear.mjs'],
    ['a workflow that does not exist', 'test.yml', 'tset.yml', 'two: no file ./.github'],
  ])('with %s is refused', (_, from, to, problem) => {
    expect(GOOD).toContain(from)
    const found = problemsOfWorkflow('one.yml', GOOD.replace(from, to), tree)
    expect(found.filter((each) => each.startsWith(problem))).toHaveLength(1)
  })
})

function read(path: string): string {
  return readFileSync(new URL(path, root), 'utf8')
}

/** Lists what has dependencies in a folder and below it, as `ecosystem /folder`. */
function ecosystems(path: string): readonly string[] {
  const files: Readonly<Record<string, string>> = {
    'package-lock.json': 'npm',
    'go.mod': 'gomod',
    Dockerfile: 'docker',
  }
  const made = ['node_modules', 'build', 'dist']
  return readdirSync(new URL(`${path}/`, root), { withFileTypes: true }).flatMap((entry) => {
    const ecosystem = files[entry.name]
    if (ecosystem !== undefined) return [`${ecosystem} ${path.slice(1) || '/'}`]
    if (!entry.isDirectory() || entry.name.startsWith('.') || made.includes(entry.name)) return []
    return ecosystems(`${path}/${entry.name}`)
  })
}
