import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

interface Tools {
  problemsOfTree(root: string, release: { version: string; tag?: string }): readonly string[]
  sectionOf(text: string, version: string): { date: string | undefined; body: string } | undefined
  notesOf(release: { version: string; body: string; repository?: string }): string
  whyNotPublish(env: Readonly<Record<string, string | undefined>>): string | undefined
  checkedFiles(folder: string): readonly string[]
}

const ROOT = new URL('../../', import.meta.url)
const PUBLISH = new URL('tools/release/publish.mjs', ROOT).href

const tools: Tools = Object.assign(
  {},
  ...(await Promise.all(
    ['check-tree', 'changelog', 'publish'].map(
      (name) => import(new URL(`tools/release/${name}.mjs`, ROOT).href),
    ),
  )),
)

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'release-'))
})

afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

describe('a tree', () => {
  const TREE = {
    'package.json': '{ "devDependencies": { "kubecred": "1.2.3", "yaml": "2.0.0" } }',
    'package-lock.json':
      '{ "packages": { "packages/core": { "version": "1.2.3" }, "packages/cli": { "version": "1.2.3" } } }',
    'packages/core/package.json': '{ "name": "kubecred", "version": "1.2.3" }',
    'packages/core/src/version.ts': "export const VERSION = '1.2.3'\n",
    'packages/cli/package.json':
      '{ "name": "@kubecred/cli", "version": "1.2.3", "dependencies": { "kubecred": "^1.2.3" } }',
    'deploy/kubernetes/kustomization.yaml': 'images:\n  - name: x\n    newTag: 1.2.3\n',
    'CHANGELOG.md':
      '# Changelog\n\n## 1.2.3, 2026-12-31\n\n- A fix.\n\n## 1.2.2, 2026-12-01\n\n- Older.\n',
  }

  beforeEach(() => {
    for (const [file, text] of Object.entries(TREE)) write(file, text)
    git('init', '--quiet')
    commit()
  })

  it('whose versions, changelog and tag agree can be released', () => {
    expect(tools.problemsOfTree(folder, { version: '1.2.3', tag: 'v1.2.3' })).toEqual([])
  })

  it.each([
    ['CHANGELOG.md', '1.2.3,', '1.3.0,', 'CHANGELOG.md has no section "## 1.2.3, DATE"'],
    ['CHANGELOG.md', '- A fix.\n', '', 'CHANGELOG.md says nothing about 1.2.3'],
    ['CHANGELOG.md', '2026-12-31', 'not released yet', 'CHANGELOG.md has no date for 1.2.3'],
    ['packages/cli/package.json', '"1.2.3"', '"1.2.2"', 'packages/cli/package.json has the ver'],
    ['packages/cli/package.json', '^1.2.3', '^1.2.2', 'packages/cli/package.json (kubecred) has'],
    ['package.json', '1.2.3', '1.2.2', 'package.json (kubecred) has the version 1.2.2, not 1.2.3'],
    ['package-lock.json', '1.2.3', '1.2.2', 'package-lock.json (packages/core) has the version'],
    ['packages/core/src/version.ts', '1.2.3', '1.2.2', 'packages/core/src/version.ts has the'],
    ['deploy/kubernetes/kustomization.yaml', '1.2.3', '1.2.2', 'deploy/kubernetes/kustomization'],
  ] as const)('with %s changed from %s to %s is refused', (file, from, to, problem) => {
    expect(TREE[file]).toContain(from)
    write(file, TREE[file].replace(from, to))
    commit()
    const found = tools.problemsOfTree(folder, { version: '1.2.3', tag: 'v1.2.3' })
    expect(found.map((each) => each.slice(0, problem.length))).toEqual([problem])
  })

  it('without a date can be tried, but not tagged', () => {
    write('CHANGELOG.md', TREE['CHANGELOG.md'].replace('2026-12-31', 'not released yet'))
    commit()
    expect(tools.problemsOfTree(folder, { version: '1.2.3' })).toEqual([])
  })

  it('with another tag is refused', () => {
    expect(tools.problemsOfTree(folder, { version: '1.2.3', tag: 'v1.2.4' })).toEqual([
      'the tag is v1.2.4, but the packages have the version 1.2.3',
    ])
  })

  it('with changed or new files is refused', () => {
    write('packages/core/src/version.ts', `${TREE['packages/core/src/version.ts']}\n`)
    write('new.txt', '')
    expect(tools.problemsOfTree(folder, { version: '1.2.3' })).toEqual([
      'not committed: packages/core/src/version.ts',
      'not committed: new.txt',
    ])
  })

  it('that is not a clone is refused', () => {
    rmSync(join(folder, '.git'), { recursive: true })
    expect(tools.problemsOfTree(folder, { version: '1.2.3' })).toContain(
      'this folder is not a clone: git status failed',
    )
  })
})

describe('the changelog', () => {
  it('gives the section of a version, up to the next one', () => {
    const text =
      '## 1.0.0, 2026-02-03\n\n- One.\n\n**Added**\n\n- Two.\n\n## 0.9.0, 2026-01-01\n- Old.\n'
    expect(tools.sectionOf(text, '1.0.0')).toEqual({
      date: '2026-02-03',
      body: '- One.\n\n**Added**\n\n- Two.',
    })
    expect(tools.sectionOf(text, '0.9.0')).toEqual({ date: '2026-01-01', body: '- Old.' })
    expect(tools.sectionOf(text, '0.9')).toBeUndefined()
  })

  it('has a section for the version of this tree', () => {
    const { version } = JSON.parse(read('packages/core/package.json'))
    expect(tools.sectionOf(read('CHANGELOG.md'), version)?.body).toMatch(/^- /m)
  })

  it('becomes notes without its comments', () => {
    const notes = tools.notesOf({ version: '1.0.0', body: '- One.\n\n<!-- a\nb -->' })
    expect(notes).toMatch(/^- One\.\n\n\*\*To verify/)
  })

  it('becomes notes whose links lead to the files at the tag', () => {
    const body = 'See [a](docs/a.md#b), [c](https://example.com/c) and [d](#d).'
    const notes = tools.notesOf({ version: '1.0.0', body, repository: 'https://example.com/k' })
    expect(notes).toContain('[a](https://example.com/k/blob/v1.0.0/docs/a.md#b)')
    expect(notes).toContain('[c](https://example.com/c) and [d](#d).')
  })
})

describe('publishing', () => {
  const WORKFLOW = {
    GITHUB_ACTIONS: 'true',
    GITHUB_REPOSITORY: 'an-owner/a-name',
    GITHUB_REF: 'refs/tags/v1.2.3',
    GITHUB_WORKFLOW_REF: 'an-owner/a-name/.github/workflows/release.yml@refs/tags/v1.2.3',
    ACTIONS_ID_TOKEN_REQUEST_URL: 'https://example.com',
  }

  it('is allowed in the release workflow', () => {
    expect(tools.whyNotPublish(WORKFLOW)).toBeUndefined()
  })

  it.each([
    ['at a terminal', { GITHUB_ACTIONS: undefined }],
    ['on a branch', { GITHUB_REF: 'refs/heads/main' }],
    [
      'in another workflow',
      { GITHUB_WORKFLOW_REF: 'an-owner/a-name/.github/workflows/test.yml@refs/tags/v1.2.3' },
    ],
    [
      'in a workflow of another commit',
      { GITHUB_WORKFLOW_REF: 'an-owner/a-name/.github/workflows/release.yml@refs/heads/main' },
    ],
    ['without an identity', { ACTIONS_ID_TOKEN_REQUEST_URL: undefined }],
  ])('is refused %s', (_, change) => {
    expect(tools.whyNotPublish({ ...WORKFLOW, ...change })).toMatch(/./)
  })

  // The job that may publish has a tree in which nothing is installed.
  it('is refused by the command, which needs no installed package', () => {
    for (const { name } of readdirSync(new URL('packages/', ROOT), { withFileTypes: true })) {
      write(`packages/${name}/package.json`, read(`packages/${name}/package.json`))
    }
    cpSync(new URL('tools/', ROOT), join(folder, 'tools'), {
      recursive: true,
      filter: (path) => !path.endsWith('node_modules'),
    })
    const { status, stderr } = spawnSync(
      process.execPath,
      ['tools/release.mjs', '--publish', 'build/release'],
      { cwd: folder, encoding: 'utf8', env: { PATH: process.env['PATH'] } },
    )
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: 'refused: only the release workflow publishes\n',
    })
  })

  it('is refused if a file differs from its checksum, or is missing', () => {
    write('one.tgz', 'one')
    write('SHA256SUMS', sumOf('one.tgz', 'one'))
    expect(tools.checkedFiles(folder)).toEqual(['one.tgz'])
    write('one.tgz', 'two')
    expect(() => tools.checkedFiles(folder)).toThrow('one.tgz does not match SHA256SUMS')
    rmSync(join(folder, 'one.tgz'))
    expect(() => tools.checkedFiles(folder)).toThrow('ENOENT')
  })

  it('is refused if a checksum is of a file elsewhere', () => {
    write('SHA256SUMS', sumOf('../one.tgz', 'one'))
    expect(() => tools.checkedFiles(folder)).toThrow('not a checksum')
  })

  describe.skipIf(process.platform === 'win32')('with an npm that notes what it should do', () => {
    const FILES = { 'kubecred-1.2.3.tgz': 'core', 'kubecred-cli-1.2.3.tgz': 'cli' }

    beforeEach(() => {
      for (const [name, text] of Object.entries(FILES)) write(name, text)
      write(
        'SHA256SUMS',
        Object.entries(FILES)
          .map(([name, text]) => sumOf(name, text))
          .join(''),
      )
    })

    it('publishes every package with provenance, in order', () => {
      expect(publish({ view: 'exit 1' })).toEqual({
        status: 0,
        published: [
          `${folder}/kubecred-1.2.3.tgz --provenance --access public --tag latest`,
          `${folder}/kubecred-cli-1.2.3.tgz --provenance --access public --tag latest`,
        ],
      })
    })

    it('continues a run that failed in the middle', () => {
      const digest = createHash('sha512').update('core').digest('base64')
      const view = `case "$2" in kubecred@*) echo sha512-${digest};; *) exit 1;; esac`
      expect(publish({ view })).toEqual({
        status: 0,
        published: [`${folder}/kubecred-cli-1.2.3.tgz --provenance --access public --tag latest`],
      })
    })

    it('stops if the registry has another file of this version', () => {
      expect(publish({ view: 'echo sha512-other' })).toEqual({ status: 1, published: [] })
    })

    it('stops at the first package that is refused', () => {
      const { status, published } = publish({ view: 'exit 1', publish: 'exit 1' })
      expect(status).toBe(1)
      expect(published).toHaveLength(1)
    })
  })

  /** Publishes the folder with an `npm` that does what the parts of a shell script say. */
  function publish(parts: { readonly view: string; readonly publish?: string }) {
    const npm = `#!/bin/sh
case "$1" in
  view) ${parts.view} ;;
  publish) shift; echo "$*" >> "${folder}/published"; ${parts.publish ?? ''} ;;
esac
`
    write('bin/npm', npm)
    write('published', '')
    chmodSync(join(folder, 'bin/npm'), 0o755)
    const script = `
      import { publish } from ${JSON.stringify(PUBLISH)}
      publish(${JSON.stringify(folder)}, { version: '1.2.3', names: ['kubecred', '@kubecred/cli'] })`
    const { status } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      env: { PATH: `${join(folder, 'bin')}${delimiter}${process.env['PATH']}` },
    })
    const published = readFileSync(join(folder, 'published'), 'utf8').split('\n').filter(Boolean)
    return { status, published }
  }
})

function write(file: string, text: string): void {
  const path = join(folder, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

function commit(): void {
  git('add', '--all')
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
  git(...author, '-c', 'commit.gpgsign=false', 'commit', '--quiet', '--message', 'a')
}

function git(...args: readonly string[]): void {
  const { status, stderr } = spawnSync('git', args, { cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
}

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8')
}

function sumOf(name: string, text: string): string {
  return `${createHash('sha256').update(text).digest('hex')}  ${name}\n`
}
