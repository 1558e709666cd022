// Everything other people build on, as one text: exports and their types, programs with their flags and exit statuses, error
// codes and metrics. `node tools/public-face.mjs` after a build compares it with tools/public-face.txt; `--write` records
// it. docs/stability.md says what may change when.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path/posix'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const SNAPSHOT = join(root, 'tools/public-face.txt')
const CHANGELOG = join(root, 'CHANGELOG.md')
/** Packages that are imported. Of the others, the programs alone are public. */
const LIBRARIES = ['core', 'sandbox']
const OTHER_PROGRAMS = [
  'packages/cli/bin/kubecred-token.cjs',
  'packages/pkcs11/bin/kubecred-pkcs11.mjs',
  'packages/demo/bin/kubecred-demo.mjs',
]
/** For our own packages, without a promise. */
const PRIVATE = ['./internal', './package.json']

/** Members that only our own code can name: private ones, and those under a symbol of ours. */
const HIDDEN = /^ +(?:#private|(?:readonly |get )?\[[A-Z_]+\].*);\n/gm
/** Only classes that users make themselves: `connect()` makes a Cluster, and the library its errors. */
const CONSTRUCTOR = /^ {4}constructor\([\s\S]*?\);\n(?= {4}\S|\})/gm

const modules = new Map()
/** Names of exported values. */
const VALUES = new Set(LIBRARIES.flatMap(valuesOf))

/** The public face as text. Needs a build. */
export async function publicFace() {
  return [
    ...LIBRARIES.flatMap(describeExports),
    ...section('types', describeTypes()),
    ...(await describePrograms()),
    ...describeOtherPrograms(),
    ...(await describeCodes()),
    ...(await describeMetrics()),
  ].join('\n')
}

/** What CHANGELOG.md must name: it changes whenever the face does. */
export function fingerprint(face) {
  return createHash('sha256').update(face).digest('hex').slice(0, 12)
}

function section(title, lines) {
  return [`## ${title}`, ...lines, '']
}

function entries(library) {
  const folder = join(root, 'packages', library)
  const { name, exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return Object.entries(exports)
    .filter(([subpath]) => !PRIVATE.includes(subpath))
    .map(([subpath, { types }]) => ({ name: join(name, subpath), file: join(folder, types) }))
}

function describeExports(library) {
  return entries(library).flatMap(({ name, file }) =>
    section(name, [...exportsOf(file)].map(([exported, { kind }]) => `${kind} ${exported}`).sort()),
  )
}

/** Each declaration that an exported one leads to, without comments and once. */
function describeTypes() {
  const seen = new Map()
  for (const { file } of LIBRARIES.flatMap(entries)) {
    for (const name of exportsOf(file).keys()) visit(file, name, seen)
  }
  return [...new Set(seen.values())].sort()
}

function visit(file, name, seen) {
  const target = read(file).imported.get(name)
  if (target?.name === '*') {
    for (const each of classesOf(target.from)) visit(target.from, each, seen)
    return
  }
  const found = declaration(file, name)
  if (found === undefined || seen.has(`${found.file} ${found.name}`)) return
  const isMadeByUsers = found.name !== 'Cluster' && VALUES.has(found.name)
  const text = isMadeByUsers ? found.text : found.text.replace(CONSTRUCTOR, '')
  seen.set(`${found.file} ${found.name}`, text)
  for (const word of new Set(text.match(/\b[A-Za-z_$][\w$]*/g))) {
    if (word !== found.name) visit(found.file, word, seen)
  }
}

function classesOf(file) {
  return [...read(file).declared]
    .filter(([, text]) => text.startsWith('class'))
    .map(([name]) => name)
}

function valuesOf(library) {
  return entries(library).flatMap(({ file }) =>
    [...exportsOf(file)].filter(([, { kind }]) => kind === 'value').map(([name]) => name),
  )
}

/** What a declaration file declares, imports and exports. TypeScript 7 has no interface for tools to ask. */
function read(file) {
  const known = modules.get(file)
  if (known) return known
  const module = { declared: new Map(), imported: new Map(), exported: new Map() }
  modules.set(file, module)
  for (const statement of statements(readFileSync(file, 'utf8'))) take(statement, file, module)
  return module
}

function statements(text) {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^\/\/.*$/gm, '')
    .replace(/^\s*\n/gm, '')
    .split(/^(?=(?:export|import|declare|interface|type|class|abstract|const|function)\b)/m)
    .map((statement) => statement.trim())
}

function take(statement, file, module) {
  const all = /^import (?:type )?\* as (\S+) from '(\..*?)';$/.exec(statement)
  if (all) module.imported.set(all[1], { from: resolve(file, all[2]), name: '*' })
  const list = /^(import|export)( type)? \{([^}]*)\}(?: from '(.*?)')?;$/.exec(statement)
  if (list) takeList(list, file, module)
  else takeDeclaration(statement, module)
}

function takeList([, verb, allTypes, names, from], file, { imported, exported }) {
  for (const item of names.split(',')) {
    const match = /^(type )?(\S+)(?: as (\S+))?$/.exec(item.trim())
    if (!match) continue
    const [, isType, name, alias = name] = match
    const target = { from: from && resolve(file, from), name, isType: Boolean(isType ?? allTypes) }
    if (verb === 'import') imported.set(alias, target)
    else exported.set(alias, target)
  }
}

function takeDeclaration(statement, { declared, exported }) {
  const match =
    /^(export )?(?:declare )?(?:abstract )?(interface|type|class|const|function) ([\w$]+)/.exec(
      statement,
    )
  if (!match) return
  const [, isExported, kind, name] = match
  const text = statement.replace(/^(export )?(declare )?/, '').replace(HIDDEN, '')
  declared.set(name, declared.has(name) ? `${declared.get(name)} ${text}` : text)
  if (isExported) exported.set(name, { name, isType: kind === 'interface' || kind === 'type' })
}

function resolve(file, from) {
  return from.startsWith('.') ? join(dirname(file), from).replace(/\.(ts|js)$/, '.d.ts') : undefined
}

/** Exported names of a file, and whether they exist when the program runs. */
function exportsOf(file) {
  const kinds = new Map()
  for (const [alias, { from, name, isType }] of read(file).exported) {
    const inner = from ? exportsOf(from).get(name)?.kind : undefined
    kinds.set(alias, { kind: isType || inner === 'type' ? 'type ' : 'value' })
  }
  return kinds
}

function declaration(file, name) {
  const { declared, imported, exported } = read(file)
  if (declared.has(name)) return { file, name, text: declared.get(name) }
  const target = imported.get(name) ?? exported.get(name)
  if (target === undefined || (target.from === undefined && target.name === name)) return undefined
  return target.from === undefined && !exported.has(name)
    ? undefined
    : declaration(target.from ?? file, target.name)
}

async function describePrograms() {
  const { COMMANDS } = await load('packages/cli/dist/command-table.js')
  const { FLAGS } = await load('packages/cli/dist/flags/flag-table.js')
  const { EXIT } = await load('packages/cli/dist/exit-status.js')
  return [
    ...section(
      'program kubecred',
      COMMANDS.map(({ name, operands, flags }) =>
        [name, operands, ...flags.map((flag) => `--${flag}`)].filter(Boolean).join(' '),
      ),
    ),
    ...section(
      'flags',
      Object.entries(FLAGS)
        .map(([name, { short, value, repeats }]) =>
          [short ? `-${short}` : '', `--${name}`, value, repeats && '(repeatable)']
            .filter(Boolean)
            .join(' '),
        )
        .sort(),
    ),
    ...section(
      'exit statuses',
      Object.entries(EXIT).map(([name, status]) => `${status} ${name}`),
    ),
  ]
}

/** The flags of the smaller programs, from their help. */
function describeOtherPrograms() {
  return OTHER_PROGRAMS.flatMap((file) => {
    const { stdout } = spawnSync(process.execPath, [join(root, file), '--help'], {
      encoding: 'utf8',
    })
    const flags = new Set(stdout.match(/(?<![\w-])--[a-z][a-z-]+/g))
    return section(`program ${basename(file).replace(/\..*/, '')}`, [...flags].sort())
  })
}

async function describeCodes() {
  const { CODES } = await load('packages/core/dist/errors/public.js')
  return section(
    'error codes',
    Object.entries(CODES)
      .map(
        ([code, { exit, fault, retryable }]) =>
          `${code} exit ${exit}, fault ${fault}${retryable ? ', retryable' : ''}`,
      )
      .sort(),
  )
}

async function describeMetrics() {
  const { createMetrics } = await load('packages/core/dist/bundle/metrics.js')
  const { Registry } = createRequire(join(root, 'packages/core/package.json'))('prom-client')
  const register = new Registry()
  await createMetrics({ register })
  const metrics = await register.getMetricsAsJSON()
  return section(
    'metrics',
    metrics
      .map(({ name, type }) =>
        `${name} (${type}) ${register.getSingleMetric(name).labelNames?.join(', ') ?? ''}`.trim(),
      )
      .sort(),
  )
}

function load(file) {
  return import(pathToFileURL(join(root, file)).href)
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const face = await publicFace()
  if (process.argv.includes('--write')) writeFileSync(SNAPSHOT, face)
  process.exitCode = check(face)
}

function check(face) {
  const recorded = readFileSync(SNAPSHOT, 'utf8')
  if (recorded !== face) {
    const [was, is] = [recorded.split('\n'), face.split('\n')]
    for (const line of was.filter((line) => !is.includes(line))) process.stderr.write(`- ${line}\n`)
    for (const line of is.filter((line) => !was.includes(line))) process.stderr.write(`+ ${line}\n`)
    process.stderr.write(
      'The public face has changed. If that is meant: node tools/public-face.mjs --write\n',
    )
    return 1
  }
  const mark = `<!-- public face: ${fingerprint(face)} -->`
  if (readFileSync(CHANGELOG, 'utf8').includes(mark)) return 0
  process.stderr.write(
    `CHANGELOG.md must say what has changed for users, and end that section with ${mark}\n`,
  )
  return 1
}
