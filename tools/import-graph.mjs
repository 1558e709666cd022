// The import graph of the packages: files, lines, single importers, cycles, the longest chain, and fan-in and fan-out of
// each folder. `node tools/import-graph.mjs` prints packages/core; `--single` lists the files with a single importer,
// `--json` prints the graph as JSON. check-layers.mjs uses the same graph.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Returns every source file below packages/ with its imports. Paths are relative to `packages/`. */
export function readSources(names = ['core', 'cli', 'demo', 'pkcs11', 'sandbox']) {
  const files = new Map()
  for (const name of names) {
    const root = join('packages', name, 'src')
    for (const entry of readdirSync(root, { recursive: true })) {
      if (!entry.endsWith('.ts')) continue
      const file = `${name}/src/${entry.split(sep).join('/')}`
      const source = readFileSync(join(root, entry), 'utf8')
      files.set(file, { lines: source.split('\n').length - 1, imports: importsOf(source, file) })
    }
  }
  return files
}

/** Returns static imports, re-exports and `import('…')` in code and in types; `path` is set for our own files. */
export function importsOf(source, file) {
  const found = [
    ...source.matchAll(/^(import|export)\b([^'"]*?)from '([^']+)'/gm),
    ...source.matchAll(/^(import)( )'([^']+)'/gm),
    ...source.matchAll(/\b(import)\(()'([^']+)'\)/g),
  ]
  return found.map(([, , what, specifier]) => ({
    specifier,
    isType: what.trimStart().startsWith('type '),
    path: specifier.startsWith('.')
      ? normalize(join(dirname(file), specifier))
          .split(sep)
          .join('/')
      : undefined,
  }))
}

/** Kits are separate folders: they are for other programs, and depend on folders above the one that contains them. */
const KIT = /^[^/]+\/src\/([^/]+\/kit)\//

/** Returns the folder of a source file: `core/src/vault/vault.ts` is in `vault`, `core/src/index.ts` is its own. */
export function folderOf(file) {
  return KIT.exec(file)?.[1] ?? file.split('/')[2]
}

/** Returns the strongly connected components: groups of nodes that import each other directly or indirectly. */
export function cyclesOf(edges) {
  const index = new Map()
  const low = new Map()
  const stack = []
  const cycles = []
  const visit = (node) => {
    index.set(node, index.size)
    low.set(node, index.get(node))
    stack.push(node)
    for (const next of edges.get(node) ?? []) {
      if (!index.has(next)) visit(next)
      if (stack.includes(next)) low.set(node, Math.min(low.get(node), low.get(next)))
    }
    if (low.get(node) !== index.get(node)) return
    const group = stack.splice(stack.indexOf(node))
    if (group.length > 1) cycles.push(group.sort())
  }
  for (const node of edges.keys()) if (!index.has(node)) visit(node)
  return cycles
}

/** Returns the imports between folders, including types. */
export function folderEdges(files) {
  const edges = new Map()
  for (const [file, { imports }] of files) {
    const from = folderOf(file)
    if (!edges.has(from)) edges.set(from, new Set())
    for (const { path } of imports) {
      if (path !== undefined && folderOf(path) !== from) edges.get(from).add(folderOf(path))
    }
  }
  return edges
}

function fileEdges(files, { withTypes }) {
  return new Map(
    [...files].map(([file, { imports }]) => [
      file,
      new Set(
        imports
          .filter(({ path, isType }) => path !== undefined && (withTypes || !isType))
          .map(({ path }) => path),
      ),
    ]),
  )
}

function longestChain(edges) {
  const known = new Map()
  const from = (file, seen) => {
    if (known.has(file)) return known.get(file)
    if (seen.has(file)) return []
    let longest = []
    for (const next of edges.get(file) ?? []) {
      const chain = from(next, new Set([...seen, file]))
      if (chain.length > longest.length) longest = chain
    }
    known.set(file, [file, ...longest])
    return known.get(file)
  }
  return [...edges.keys()]
    .map((file) => from(file, new Set()))
    .reduce((one, other) => (other.length > one.length ? other : one), [])
}

function importersOf(files) {
  const importers = new Map([...files.keys()].map((file) => [file, new Set()]))
  for (const [file, { imports }] of files) {
    for (const { path } of imports) if (path !== undefined) importers.get(path)?.add(file)
  }
  return importers
}

function describe(name) {
  const files = readSources([name])
  const importers = importersOf(files)
  const single = [...importers].filter(([, by]) => by.size === 1)
  const runtime = fileEdges(files, { withTypes: false })
  const folders = new Map()
  const edges = folderEdges(files)
  for (const [file, { lines }] of files) {
    const folder = folderOf(file)
    const known = folders.get(folder) ?? { files: 0, lines: 0 }
    folders.set(folder, { files: known.files + 1, lines: known.lines + lines })
  }
  const sizes = [...files.values()].map(({ lines }) => lines).sort((a, b) => a - b)
  return {
    files: files.size,
    lines: sizes.reduce((sum, lines) => sum + lines, 0),
    medianLines: sizes[Math.floor(sizes.length / 2)],
    singleImporters: single.length,
    single: single.map(([file, by]) => [file, [...by][0], files.get(file).lines]),
    fileCycles: cyclesOf(fileEdges(files, { withTypes: true })),
    folderCycles: cyclesOf(edges),
    longestChain: longestChain(runtime),
    folders: [...folders].sort().map(([folder, sums]) => ({
      folder,
      ...sums,
      fanOut: [...(edges.get(folder) ?? [])].sort(),
      fanIn: [...edges]
        .filter(([, to]) => to.has(folder))
        .map(([from]) => from)
        .sort(),
    })),
  }
}

function print(graph, name) {
  const share = Math.round((100 * graph.singleImporters) / graph.files)
  const rows = graph.folders.map(
    ({ folder, files, lines, fanIn, fanOut }) =>
      `${folder.padEnd(14)} ${String(files).padStart(5)} ${String(lines).padStart(6)} ${String(fanIn.length).padStart(7)} ${String(fanOut.length).padStart(8)}`,
  )
  const cycles = (groups) =>
    groups.length === 0 ? 'none' : groups.map((g) => g.join(' ⇄ ')).join('\n  ')
  process.stdout.write(
    [
      `packages/${name}/src: ${graph.files} files, ${graph.lines} lines, median ${graph.medianLines}`,
      `imported by one file alone: ${graph.singleImporters} (${share} %)`,
      `cycles of folders: ${cycles(graph.folderCycles)}`,
      `cycles of files: ${cycles(graph.fileCycles)}`,
      `longest chain: ${graph.longestChain.length} files`,
      '',
      'folder         files  lines  fan-in  fan-out',
      ...rows,
      '',
    ].join('\n'),
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const flags = process.argv.slice(2)
  const [name = 'core'] = flags.filter((flag) => !flag.startsWith('--'))
  const graph = describe(name)
  if (flags.includes('--json')) process.stdout.write(`${JSON.stringify(graph, null, 2)}\n`)
  else print(graph, name)
  if (flags.includes('--single')) {
    for (const [file, by, lines] of graph.single)
      process.stdout.write(`${lines}\t${file}\t← ${by}\n`)
  }
}
