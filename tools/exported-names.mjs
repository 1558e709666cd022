// What the subpaths of the library export, read from the sources as text.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const CORE = new URL('../packages/core/', import.meta.url)

/** Lists the public subpaths that export something: their name, the name of their page, and the names they export. */
export function listSubpaths() {
  const manifest = JSON.parse(readFileSync(new URL('package.json', CORE), 'utf8'))
  return Object.entries(manifest.exports)
    .filter(([path, target]) => target.types !== undefined && path !== './internal')
    .map(([path, target]) => ({
      name: `kubecred${path.slice(1)}`,
      page: path === '.' ? 'kubecred' : path.slice(2),
      types: fileURLToPath(new URL(target.types, CORE)),
      exports: exportedNames(new URL(target['kubecred-source'], CORE)).sort(),
    }))
    .filter(({ exports }) => exports.length > 0)
}

/** Returns the names that a module exports. Our modules export lists, declarations, and everything of another module. */
function exportedNames(url) {
  const source = readFileSync(url, 'utf8')
  const lists = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list]) =>
    list
      .split(',')
      .map((each) => each.trim().split(/\s/).at(-1))
      .filter(Boolean),
  )
  const declared = source.matchAll(
    /^export (?:abstract |async )?(?:class|const|function|interface|type) (\w+)/gm,
  )
  const whole = source.matchAll(/^export (?:type )?\* from '([^']+)'/gm)
  return [
    ...new Set([
      ...lists,
      ...[...declared].map(([, name]) => name),
      ...[...whole].flatMap(([, path]) => exportedNames(new URL(path, url))),
    ]),
  ]
}
