// Checks what the pages show: code compiles, commands and flags exist, kubeconfigs can be read, links lead somewhere.
// It needs a build. `<!-- not checked: REASON -->` in front of a block leaves it out. tools/docs says what counts as what.
import { readdirSync, readFileSync } from 'node:fs'
import { checkCode } from './docs/check-code.mjs'
import { checkCommands } from './docs/check-commands.mjs'
import { checkData, problemsOf } from './docs/check-data.mjs'
import { checkLinks } from './docs/check-links.mjs'
import { readPage } from './docs/read-page.mjs'

const root = new URL('../', import.meta.url)

const pages = [
  ...list('.', /^[^/]+\.md$/),
  ...list('docs', /\.md$/),
  ...list('examples', /\.md$/),
  ...readdirSync(new URL('packages', root)).map((name) => `packages/${name}/README.md`),
].map((path) => readPage(path, read(path)))

// The examples in the API reference come from doc comments: they are parts of programs.
const written = pages.filter(({ path }) => !path.startsWith('docs/api/'))

const examples = list('examples', /\.mjs$/).map((path) => ({ path, text: read(path) }))

const problems = [
  ...checkCode(root, written, examples),
  ...written.flatMap(checkCommands),
  ...written.flatMap(checkData),
  ...list('examples', /\.ya?ml$/).flatMap((path) =>
    problemsOf(read(path)).map((message) => ({
      path,
      line: 1,
      message,
    })),
  ),
  ...checkLinks(root, pages),
]

for (const { path, line, message } of problems.sort(byPlace)) {
  process.stderr.write(`${path}:${line}: ${message}\n`)
}
if (problems.length > 0) process.exitCode = 1

function list(folder, pattern) {
  return readdirSync(new URL(folder, root), { recursive: folder !== '.' })
    .filter((name) => pattern.test(name))
    .map((name) => (folder === '.' ? name : `${folder}/${name.replaceAll('\\', '/')}`))
}

function read(path) {
  return readFileSync(new URL(path, root), 'utf8')
}

function byPlace(one, other) {
  return one.path.localeCompare(other.path) || one.line - other.line
}
