// Finds what forbids a release of this tree: uncommitted changes, versions that differ, a changelog without the version.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sectionOf } from './changelog.mjs'

/** Places outside the manifests that contain the version. */
const PLACES = [
  { file: /^packages\/core\/src\/version\.ts$/, version: /VERSION = '(?<version>[^']+)'/g },
  { file: /^deploy\/.*kustomization\.yaml$/, version: /newTag: ['"]?(?<version>[^'"\s]+)/g },
]

/**
 * Returns what forbids a release, as sentences. An empty list allows it.
 *
 * @param {string} root The folder of the tree.
 * @param {{ version: string, tag?: string | undefined }} release With a tag the release is meant to be published: the tag
 *   must be the version's, and the changelog must have its date.
 */
export function problemsOfTree(root, { version, tag }) {
  return [
    ...changesOf(root),
    ...differentVersions(root, version),
    ...problemsOfChangelog(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), { version, tag }),
    ...(tag === undefined || tag === `v${version}`
      ? []
      : [`the tag is ${tag}, but the packages have the version ${version}`]),
  ]
}

function changesOf(root) {
  const { status, stdout } = git(root, 'status', '--porcelain')
  if (status !== 0) return ['this folder is not a clone: git status failed']
  const changed = stdout.split('\n').filter(Boolean)
  return changed.map((line) => `not committed: ${line.slice(3)}`)
}

function differentVersions(root, version) {
  const lock = readJson(root, 'package-lock.json')
  const manifests = manifestsOf(root)
  const ours = manifests.map(({ name }) => name)
  return [
    ...manifests.flatMap(({ folder, ...manifest }) => [
      ...expectVersion(`${folder}/package.json`, manifest.version, version),
      ...expectVersion(`package-lock.json (${folder})`, lock.packages[folder]?.version, version),
      ...internalRanges(`${folder}/package.json`, manifest, ours, version),
    ]),
    ...internalRanges('package.json', readJson(root, 'package.json'), ours, version),
    ...otherPlaces(root, version),
  ]
}

/** The ranges in which our packages need each other. */
function internalRanges(file, manifest, ours, version) {
  const { dependencies, devDependencies, optionalDependencies } = manifest
  return Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
    .filter(([name]) => ours.includes(name))
    .flatMap(([name, range]) =>
      expectVersion(`${file} (${name})`, range.replace(/^\^/, ''), version),
    )
}

function otherPlaces(root, version) {
  const { stdout } = git(root, 'ls-files')
  const files = stdout.split('\n').filter((file) => existsSync(join(root, file)))
  return PLACES.flatMap((place) =>
    files
      .filter((file) => place.file.test(file))
      .flatMap((file) =>
        [...readFileSync(join(root, file), 'utf8').matchAll(place.version)].flatMap(({ groups }) =>
          expectVersion(file, groups.version, version),
        ),
      ),
  )
}

function problemsOfChangelog(text, { version, tag }) {
  const section = sectionOf(text, version)
  if (section === undefined) return [`CHANGELOG.md has no section "## ${version}, DATE"`]
  if (section.body === '') return [`CHANGELOG.md says nothing about ${version}`]
  if (tag === undefined || section.date !== undefined) return []
  return [
    `CHANGELOG.md has no date for ${version}: its heading must be "## ${version}, YYYY-MM-DD"`,
  ]
}

function expectVersion(place, found, version) {
  return found === version ? [] : [`${place} has the version ${found}, not ${version}`]
}

/** Returns the manifests of our packages, each with its folder. */
export function manifestsOf(root) {
  return readdirSync(join(root, 'packages'))
    .map((name) => `packages/${name}`)
    .filter((folder) => existsSync(join(root, folder, 'package.json')))
    .map((folder) => ({ folder, ...readJson(root, `${folder}/package.json`) }))
}

function readJson(root, file) {
  return JSON.parse(readFileSync(join(root, file), 'utf8'))
}

function git(root, ...args) {
  return spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 })
}
