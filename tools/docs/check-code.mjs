// Compiles the ts and js blocks of the pages, and the programs in examples/, against the built packages.
//
// A block with an import begins a program. A block without one continues the program above it on its page: it sees what
// that declared, and may declare the same names again. A block whose first line is `// NAME.mjs` begins the program of that
// name, which other programs of the page can import as `./NAME.mjs`.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const LANGUAGES = { ts: 'ts', typescript: 'ts', js: 'js', javascript: 'js', mjs: 'js' }

/** What every page may use without declaring it. */
const GIVEN = `import type { Sandbox } from '@kubecred/sandbox'
import type { Cluster } from 'kubecred'
declare global {
  const cluster: Cluster
  const sandbox: Sandbox
  const signal: AbortSignal
}
`

/** Packages whose imports have the type any: they are not installed here, or their types do not fit `nodenext`. */
const UNTYPED = [
  ...['express', 'fastify', 'pino', 'winston', '@jest/globals', '@opentelemetry/*'],
  ...['@rollup/plugin-commonjs', '@rollup/plugin-json'],
]

const FILE_NAME = /^(?:#!.*\n)?\/\/ ([\w.-]+\.(?:mjs|js|ts))\n/

const OPTIONS = {
  // Pages show what users write: against the types that are published, and no stricter than most projects are.
  customConditions: [],
  allowJs: true,
  checkJs: true,
  noEmit: true,
  noImplicitAny: false,
  noImplicitReturns: false,
  noPropertyAccessFromIndexSignature: false,
  noUnusedLocals: false,
  noUnusedParameters: false,
  isolatedModules: false,
  verbatimModuleSyntax: false,
  rewriteRelativeImportExtensions: false,
  skipLibCheck: true,
}

/** A reader of JavaScript sees no types: only names, calls and arguments are checked. */
const JAVASCRIPT = { ...OPTIONS, strict: false, exactOptionalPropertyTypes: false }
const ON_UNKNOWN = /does not exist on type '(?:unknown|\{\})'/

/**
 * Returns the errors of the compiler as `{ path, line, message }`.
 *
 * @param files Programs in JavaScript: `{ path, text }`.
 */
export function checkCode(root, pages, files = []) {
  const programs = pages.flatMap(({ path, blocks }) =>
    joinPrograms(blocks).map((program, at) => ({
      ...program,
      path,
      file: fileOf(path, program, at),
    })),
  )
  const others = files.map(({ path, text }) => ({
    path,
    file: path,
    language: 'js',
    text: text.replace(/^#!.*/, ''),
  }))
  const written = (language) => programs.filter((each) => each.language === language)
  return [
    ...compile(root, written('ts'), OPTIONS),
    ...compile(root, [...written('js'), ...others], JAVASCRIPT).filter(
      ({ message }) => !ON_UNKNOWN.test(message),
    ),
  ]
}

/** Joins the blocks of a page into programs. */
function joinPrograms(blocks) {
  const programs = []
  for (const block of blocks) {
    const language = LANGUAGES[block.language]
    if (language === undefined) continue
    const begins =
      FILE_NAME.test(block.text) || (/^(?:import|export)\b/m.test(block.text) && !block.isContinued)
    if (begins || programs.length === 0) programs.push([])
    programs.at(-1).push({ ...block, language })
  }
  const names = new Set()
  return programs.map((own) => {
    const language = own.some((block) => block.language === 'ts') ? 'ts' : 'js'
    const [, found] = FILE_NAME.exec(own[0].text) ?? []
    // The first program of a name is the one that others import.
    const name = names.has(found) ? undefined : found
    names.add(found)
    return { language, name, text: `${nest(own)}\n${declare(own, language)}` }
  })
}

/** Where a program is compiled: each page has a folder, so that its programs can import each other. */
function fileOf(path, { name, language }, at) {
  return `${path}/${name ?? `${at}.${language}`}`
}

function declare(blocks, language) {
  const names = new Set(blocks.flatMap(({ given }) => given))
  const write = (name) =>
    language === 'ts' ? `declare var ${name}: any` : `/** @type {any} */ var ${name}`
  return [...names].map(write).join('\n')
}

/** Puts each block into a scope inside the one before it. Lines are those of the page; the bracket takes the fence's. */
function nest(blocks) {
  const lines = []
  const imports = []
  for (const [at, { line, text }] of blocks.entries()) {
    const body = at === 0 ? text : takeImports(text, imports)
    if (at > 0) lines[line - 2] = '{'
    body.split('\n').forEach((each, offset) => {
      // `#!` may only stand in the first line of a file.
      lines[line - 1 + offset] = each.replace(/^#!.*/, '')
    })
  }
  // Holes become empty lines.
  return [...lines, '}'.repeat(blocks.length - 1), ...imports].join('\n')
}

function takeImports(text, imports) {
  return text.replace(/^import\b[^'"]*['"][^'"]*['"]/gm, (statement) => {
    imports.push(statement.replaceAll('\n', ' '))
    return statement.replace(/[^\n]/g, '')
  })
}

/** Compiles programs in a folder of their own, which has the packages of the repository. */
function compile(root, programs, compilerOptions) {
  if (programs.length === 0) return []
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-docs-'))
  const home = fileURLToPath(root)
  try {
    const files = programs.map(({ file }) => file)
    for (const [at, { text }] of programs.entries()) {
      mkdirSync(dirname(join(folder, files[at])), { recursive: true })
      writeFileSync(join(folder, files[at]), text)
    }
    symlinkSync(join(home, 'node_modules'), join(folder, 'node_modules'), 'junction')
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    writeFileSync(join(folder, 'given.d.ts'), GIVEN)
    writeFileSync(
      join(folder, 'untyped.d.ts'),
      UNTYPED.map((name) => `declare module '${name}'`).join('\n'),
    )
    const config = {
      extends: join(home, 'tsconfig.base.json'),
      compilerOptions,
      files: ['given.d.ts', 'untyped.d.ts', ...files],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const tsc = join(home, 'node_modules/typescript/bin/tsc')
    const { stdout, status } = spawnSync(process.execPath, [tsc, '--pretty', 'false'], {
      cwd: folder,
      encoding: 'utf8',
    })
    const found = [...stdout.matchAll(/^(.+?)\((\d+),\d+\): error (TS\d+: .+)$/gm)]
    // An error without a place is a mistake in this tool.
    if (status !== 0 && found.length === 0) throw new Error(`tsc ended with ${status}: ${stdout}`)
    return found.map(([, file, line, message]) => {
      const { path } = programs[files.indexOf(file)] ?? { path: file }
      return { path, line: Number(line), message }
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}
