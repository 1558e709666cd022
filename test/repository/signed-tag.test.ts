import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const hasBash = spawnSync('bash', ['--version'], { stdio: 'ignore' }).status === 0
const script = tagScript()

/** What the API answers about a good tag, after the filter of each call. */
const GOOD = { REF: 'tag 0b1ec7', TAG: 'true valid c0333117', STATE: 'behind' }

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gh-'))
  const gh = `#!/bin/sh
case "$2" in
  repos/an-owner/a-name/git/ref/tags/v1.2.3) echo "$REF" ;;
  repos/an-owner/a-name/git/tags/0b1ec7) echo "$TAG" ;;
  repos/an-owner/a-name/compare/main...c0333117) echo "$STATE" ;;
  *) exit 1 ;;
esac
`
  writeFileSync(join(folder, 'gh'), gh)
  chmodSync(join(folder, 'gh'), 0o755)
})

afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

// bash is optional, see tools/system-packages.mjs.
describe.skipIf(!hasBash)('the release workflow', () => {
  it('accepts a signed tag on the default branch', () => {
    expect(verify(GOOD)).toEqual({ status: 0, said: '' })
    expect(verify({ ...GOOD, STATE: 'identical' })).toEqual({ status: 0, said: '' })
  })

  it.each([
    ['a tag that is only a name', 'REF', 'commit c0333117', 'it is not an annotated tag'],
    ['a tag without a signature', 'TAG', 'false unsigned c0333117', 'not accepted: unsigned'],
    ['an unknown key', 'TAG', 'false unknown_key c0333117', 'not accepted: unknown_key'],
    ['a tag that was moved meanwhile', 'TAG', 'true valid 07e12', 'is not accepted'],
    ['a commit beside the branch', 'STATE', 'diverged', 'c0333117 is not on main: diverged'],
    ['a commit after the branch', 'STATE', 'ahead', 'c0333117 is not on main: ahead'],
    ['a tag that the API does not know', 'REF', '', ''],
    ['an answer that is missing', 'TAG', '', ''],
  ])('refuses %s', (_, name, answer, reason) => {
    const { status, said } = verify({ ...GOOD, [name]: answer })
    expect(status).toBe(1)
    expect(said).toContain(reason)
  })
})

/** Runs the script of the workflow as a runner does, with a `gh` that gives these answers. */
function verify(answers: typeof GOOD): { readonly status: number | null; readonly said: string } {
  const { status, stderr } = spawnSync(
    'bash',
    ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script],
    {
      encoding: 'utf8',
      env: {
        ...answers,
        PATH: `${folder}${delimiter}${process.env['PATH']}`,
        BRANCH: 'main',
        GITHUB_REPOSITORY: 'an-owner/a-name',
        GITHUB_REF_NAME: 'v1.2.3',
        GITHUB_SHA: 'c0333117',
      },
    },
  )
  return { status, said: stderr }
}

function tagScript(): string {
  const file = new URL('../../.github/workflows/release.yml', import.meta.url)
  const { jobs }: { jobs: { tag: { steps: readonly { run: string }[] } } } = parse(
    readFileSync(file, 'utf8'),
  )
  const [step] = jobs.tag.steps
  if (step === undefined) throw new Error('the job "tag" has no step')
  return step.run
}
