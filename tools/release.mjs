// `npm run release`: makes the files of a release in a folder, and publishes nothing. docs/releasing.md describes them.
//
//   npm run release                           a dry run, into build/release
//   npm run release -- --into FOLDER          into a new or empty folder
//   npm run release -- --tag v0.1.0           for publishing: the tag must fit, and the changelog must have a date
//   npm run release -- --repository URL       the repository to name in the manifests; in a workflow, its own
//   node tools/release.mjs --publish FOLDER   publishes the files of a folder; only in the release workflow
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { PACKAGES, packInto } from './pack.mjs'
import { billOfMaterials, readBundled } from './release/bill-of-materials.mjs'
import { notesOf, sectionOf } from './release/changelog.mjs'
import { manifestsOf, problemsOfTree } from './release/check-tree.mjs'
import { CHECKSUMS, publish, sha256, whyNotPublish } from './release/publish.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const DEFAULT_FOLDER = join(root, 'build/release')
/** In the order in which they are published. */
const manifests = PACKAGES.map((name) =>
  manifestsOf(root).find(({ folder }) => folder === `packages/${name}`),
)
const { version } = manifests[0]

const { values } = parseArgs({
  options: {
    into: { type: 'string' },
    tag: { type: 'string' },
    repository: { type: 'string', default: ownRepository(process.env) },
    publish: { type: 'string' },
  },
})

try {
  if (values.publish === undefined) make(values)
  else publishFrom(values.publish)
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

function make({ into, tag, repository }) {
  const folder = into === undefined ? DEFAULT_FOLDER : resolve(into)
  if (into !== undefined && existsSync(folder) && readdirSync(folder).length > 0) {
    throw new Error(`refused: ${into} is not empty`)
  }
  refuse(problemsOfTree(root, { version, tag }))
  run(process.execPath, ['tools/bootstrap.mjs'])
  // The build must not have changed a file that git knows.
  refuse(problemsOfTree(root, { version, tag }))
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const packed = packInto(folder, { repository })
  const section = sectionOf(read('CHANGELOG.md'), version)
  const others = {
    [`kubecred-${version}.cdx.json`]: `${JSON.stringify(bill(folder, packed), null, 2)}\n`,
    'RELEASE_NOTES.md': notesOf({ version, body: section.body, repository }),
  }
  for (const [name, text] of Object.entries(others)) writeFileSync(join(folder, name), text)
  const files = [...packed.map(({ file }) => file), ...Object.keys(others)]
  const sums = files.map((file) => `${sha256(join(folder, file))}  ${file}\n`).join('')
  writeFileSync(join(folder, CHECKSUMS), sums)
  report({ folder, sums, section, repository })
}

function bill(folder, packed) {
  const program = '@kubecred/cli'
  const bundled = [
    { name: 'kubecred', version },
    ...readBundled(read('packages/cli/dist/bundle/LICENSES.txt')),
  ]
  return billOfMaterials({
    version,
    timestamp: run('git', ['log', '-1', '--format=%cI'], 'pipe').trim(),
    lock: JSON.parse(read('package-lock.json')),
    packages: manifests.map((manifest) => ({
      folder: manifest.folder,
      name: manifest.name,
      sha256: sha256(join(folder, packed.find(({ name }) => name === manifest.name).file)),
      bundled: manifest.name === program ? bundled : [],
    })),
  })
}

function report({ folder, sums, section, repository }) {
  const commit = run('git', ['rev-parse', 'HEAD'], 'pipe').trim()
  process.stdout.write(`kubecred ${version} of ${commit}, in ${relative('', folder) || '.'}\n\n`)
  process.stdout.write(sums)
  const notes = [
    section.date === undefined && `CHANGELOG.md has no date for ${version} yet`,
    repository === undefined &&
      'the manifests name no repository, which npm needs for provenance: --repository URL',
  ].filter(Boolean)
  for (const note of notes) process.stdout.write(`\nnot ready for publishing: ${note}\n`)
}

function publishFrom(folder) {
  const reason = whyNotPublish(process.env)
  if (reason !== undefined) throw new Error(`refused: ${reason}`)
  const tag = process.env.GITHUB_REF.replace('refs/tags/', '')
  if (tag !== `v${version}`) throw new Error(`refused: the tag is ${tag}, the version ${version}`)
  // Absolute: npm takes `a/b` for a repository on GitHub.
  publish(resolve(folder), { version, names: manifests.map(({ name }) => name) })
}

function ownRepository({ GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name }) {
  return server !== undefined && name !== undefined ? `${server}/${name}` : undefined
}

function refuse(problems) {
  if (problems.length > 0) throw new Error(problems.map((each) => `refused: ${each}`).join('\n'))
}

function read(file) {
  return readFileSync(join(root, file), 'utf8')
}

function run(command, args, stdout = 2) {
  const ended = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', stdout, 2],
    encoding: 'utf8',
  })
  if (ended.status !== 0) throw new Error(`${command} ${args.join(' ')} failed`)
  return ended.stdout
}
