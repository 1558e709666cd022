// Publishes the files of a release, as they are, from the release workflow only. Uses nothing but Node and npm, so that no
// code of a dependency runs in the job that may publish.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** The file that lists the others. Our packages come first, each after those it needs. */
export const CHECKSUMS = 'SHA256SUMS'
const WORKFLOW = '.github/workflows/release.yml'

/** Returns why this process may not publish; undefined if it may. npm itself checks the identity of the workflow. */
export function whyNotPublish(env) {
  const { GITHUB_REPOSITORY: repository, GITHUB_REF: ref, GITHUB_WORKFLOW_REF: workflow } = env
  if (env.GITHUB_ACTIONS !== 'true') return 'only the release workflow publishes'
  if (!ref?.startsWith('refs/tags/v')) return `only a tag is published, not ${ref}`
  if (workflow !== `${repository}/${WORKFLOW}@${ref}`) return `only ${WORKFLOW} publishes`
  if (!env.ACTIONS_ID_TOKEN_REQUEST_URL) return 'provenance needs the permission "id-token: write"'
  return undefined
}

/** Reads the list of files, and compares each with its digest. @returns {string[]} The names of the files. */
export function checkedFiles(folder) {
  const lines = readFileSync(join(folder, CHECKSUMS), 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => {
    const [, digest, name] = /^([0-9a-f]{64}) {2}(\S+)$/.exec(line) ?? []
    if (name === undefined || name !== basename(name)) throw new Error(`not a checksum: ${line}`)
    if (sha256(join(folder, name)) !== digest)
      throw new Error(`${name} does not match ${CHECKSUMS}`)
    return name
  })
}

/** Publishes each package of the folder. What the registry already has, byte for byte, is left: a failed run can continue. */
export function publish(folder, { version, names }) {
  const files = checkedFiles(folder).filter((file) => file.endsWith('.tgz'))
  if (files.length !== names.length)
    throw new Error(`${files.length} packages, not ${names.length}`)
  for (const [index, file] of files.entries()) {
    const name = names[index]
    const expected = `${name.replace('@', '').replace('/', '-')}-${version}.tgz`
    if (file !== expected) throw new Error(`${file} is not ${expected}`)
    const path = join(folder, file)
    const published = publishedIntegrity(`${name}@${version}`)
    if (published === integrityOf(path)) {
      process.stdout.write(`${name}@${version} is published already\n`)
      continue
    }
    if (published !== undefined) throw new Error(`another ${name}@${version} is published already`)
    // A prerelease must not become what `npm install` chooses.
    const tag = version.includes('-') ? 'next' : 'latest'
    npm('publish', path, '--provenance', '--access', 'public', '--tag', tag)
  }
}

function publishedIntegrity(spec) {
  const args = ['view', spec, 'dist.integrity']
  // Fails if the package does not exist yet.
  const { status, stdout } = spawnSync('npm', args, { encoding: 'utf8' })
  return (status === 0 && stdout.trim()) || undefined
}

function npm(...args) {
  const { status } = spawnSync('npm', args, { stdio: 'inherit' })
  if (status !== 0) throw new Error(`npm ${args.join(' ')} ended with status ${status}`)
}

export function sha256(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

function integrityOf(path) {
  return `sha512-${createHash('sha512').update(readFileSync(path)).digest('base64')}`
}
