import { parse } from 'yaml'

/** What the rules compare a workflow with. */
export interface Tree {
  /** The scripts of package.json. */
  readonly scripts: readonly string[]
  hasFile(path: string): boolean
}

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}

interface Job {
  readonly 'runs-on'?: string
  readonly 'timeout-minutes'?: number
  readonly permissions?: Readonly<Record<string, string>>
  readonly uses?: string
  readonly steps?: readonly Step[]
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>
  readonly permissions?: unknown
  readonly concurrency?: { readonly group?: string }
  readonly jobs: Readonly<Record<string, Job>>
}

/** The only permissions to write: `file job permission`. */
const MAY_WRITE = ['release.yml publish id-token', 'release.yml announce contents']

/** Returns what is wrong with a workflow, as sentences. */
export function problemsOfWorkflow(file: string, text: string, tree: Tree): readonly string[] {
  const workflow: Workflow = parse(text)
  return [
    ...problemsOfText(text),
    ...problemsOfTop(workflow),
    ...Object.entries(workflow.jobs).flatMap(([name, job]) =>
      [
        ...problemsOfJob(job),
        ...problemsOfPermissions(`${file} ${name}`, job),
        ...problemsOfIdentity(job),
        ...(job.steps ?? []).flatMap((step) => problemsOfStep(step, tree)),
        ...(job.uses === undefined ? [] : problemsOfUse(job.uses, tree)),
      ].map((problem) => `${name}: ${problem}`),
    ),
  ]
}

function problemsOfText(text: string): readonly string[] {
  return [
    // The parser drops comments, and a digest without its version cannot be reviewed.
    ...text
      .split('\n')
      .filter((line) => /\buses: [^.]/.test(line) && !/@\S+ # v\d+\.\d+\.\d+$/.test(line))
      .map((line) => `no version in a comment: ${line.trim()}`),
    // npm recognises the workflow itself, and no other service is used.
    ...(/\bsecrets\b *[.:[]/.test(text) ? ['uses a secret'] : []),
  ]
}

function problemsOfTop({ on, permissions, concurrency }: Workflow): readonly string[] {
  return [
    ...(JSON.stringify(permissions) === '{}' ? [] : ['the workflow itself has permissions']),
    ...(concurrency?.group === undefined ? ['no concurrency group'] : []),
    // It runs with the rights of the repository on code of a stranger.
    ...('pull_request_target' in on ? ['runs on pull_request_target'] : []),
  ]
}

function problemsOfJob(job: Job): readonly string[] {
  // A job that calls another workflow has neither: the jobs of that workflow have them.
  if (job.uses !== undefined) return []
  return [
    ...(job['timeout-minutes'] === undefined ? ['no timeout-minutes'] : []),
    ...(/-latest$/.test(job['runs-on'] ?? '-latest') ? ['its runner changes by itself'] : []),
  ]
}

function problemsOfPermissions(job: string, { permissions }: Job): readonly string[] {
  if (typeof permissions !== 'object') return ['no permissions']
  return Object.entries(permissions)
    .filter(([name, level]) => level === 'write' && !MAY_WRITE.includes(`${job} ${name}`))
    .map(([name]) => `may write ${name}`)
}

/** A job that can prove to npm what it is runs nothing that was installed. */
function problemsOfIdentity({ permissions, steps = [] }: Job): readonly string[] {
  if (permissions?.['id-token'] === undefined) return []
  return steps
    .flatMap(({ run }) => run ?? [])
    .filter((run) => run !== 'node tools/release.mjs --publish build/release')
    .map((run) => `may publish, and runs ${run}`)
}

function problemsOfStep({ uses, run = '', with: inputs }: Step, tree: Tree): readonly string[] {
  const isOpen = uses?.startsWith('actions/checkout@') && inputs?.['persist-credentials'] !== false
  return [
    ...(uses === undefined ? [] : problemsOfUse(uses, tree)),
    ...(isOpen ? ['checkout keeps the token: persist-credentials'] : []),
    // Values of an event would become part of the script.
    ...(run.includes('${{') ? ['an expression inside a script: pass it in env'] : []),
    ...[
      ...run.matchAll(/\bnpm (?:run )?(?!install --global npm@\d+\.\d+\.\d+$)(?<script>[a-z:]+)/g),
    ]
      .map(({ groups }) => groups?.['script'] ?? '')
      .filter((script) => !tree.scripts.includes(script))
      .map((script) => `no script ${script} in package.json`),
    ...[...run.matchAll(/\bnode (?<path>\S+\.mjs)/g)]
      .map(({ groups }) => groups?.['path'] ?? '')
      .filter((path) => !tree.hasFile(path))
      .map((path) => `no file ${path}`),
  ]
}

function problemsOfUse(uses: string, tree: Tree): readonly string[] {
  if (uses.startsWith('./')) return tree.hasFile(uses) ? [] : [`no file ${uses}`]
  return /^[\w.-]+\/[\w./-]+@[0-9a-f]{40}$/.test(uses) ? [] : [`not pinned by a digest: ${uses}`]
}
