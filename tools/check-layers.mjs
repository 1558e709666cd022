// The order of folders, defined only here: a folder may import itself and the folders of the lines above it, but none of
// its own line or below. So there are no cycles. Types count as imports.
// `pure` folders import no module of Node; Biome checks that they use no globals.
import { cyclesOf, folderEdges, folderOf, readSources } from './import-graph.mjs'

const ORDER = [
  [{ pure: 'secret' }, 'version.ts'],
  [{ pure: 'errors' }],
  [{ pure: 'formats' }, { pure: 'lifecycle' }],
  [{ pure: 'credential' }],
  [{ pure: 'signer' }],
  [{ pure: 'kubeconfig' }],
  [{ pure: 'plugin' }],
  [{ pure: 'ports' }],
  [{ pure: 'sources' }],
  [{ pure: 'keeper' }],
  [{ pure: 'vault' }],
  ['node', 'tls'],
  ['dial'],
  ['exchange'],
  ['request'],
  ['bridge'],
  ['logins', 'plugin/kit'],
  ['connect', 'signer/kit'],
  ['adapters', 'diagnose', 'metrics', 'proxy', 'testing', 'index.ts'],
  ['register'],
  ['internal.ts'],
]

/** External modules and our own packages, and the folders or files that may import each. */
const OWNERS = {
  yaml: 'core/src/formats',
  oauth4webapi: 'core/src/node/oidc-issuer.ts',
  undici: 'core/src/exchange',
  '@peculiar/x509': 'sandbox/src',
  ws: ['sandbox/src', 'core/src/adapters/ws'],
  pkcs11js: 'pkcs11/src',
  'prom-client': ['cli/src/proxy', 'core/src/metrics'],
  'fast-string-width': 'cli/src/render',
  kubecred: ['cli/src', 'demo/src'],
  'kubecred/internal': 'cli/src',
  'kubecred/diagnose': 'cli/src',
  'kubecred/errors': 'cli/src',
  'kubecred/metrics': 'cli/src',
  'kubecred/proxy': ['cli/src', 'demo/src'],
  'kubecred/signer': ['pkcs11/src', 'demo/src/signer-program.ts'],
  '@kubecred/sandbox': 'demo/src',
  '@kubecred/cli/internal': 'demo/src',
}

const LINES = new Map()
const PURE = new Set()
for (const [line, folders] of ORDER.entries()) {
  for (const folder of folders) {
    LINES.set(folder.pure ?? folder, line)
    if (folder.pure !== undefined) PURE.add(folder.pure)
  }
}

const problems = []
const core = readSources(['core'])
for (const [file, { imports }] of core) {
  const folder = folderOf(file)
  const line = LINES.get(folder)
  if (line === undefined) {
    problems.push(`${file}: '${folder}' is in no line of tools/check-layers.mjs`)
    continue
  }
  for (const { path, specifier } of imports) {
    if (PURE.has(folder) && specifier.startsWith('node:')) {
      problems.push(`${file}: '${folder}' is pure and imports '${specifier}'`)
    }
    if (path === undefined) continue
    const other = folderOf(path)
    const isAbove = (LINES.get(other) ?? Number.POSITIVE_INFINITY) < line
    if (other !== folder && !isAbove) {
      problems.push(`${file}: '${folder}' may not import '${other}' (${specifier})`)
    }
  }
}
for (const cycle of cyclesOf(folderEdges(core))) {
  problems.push(`these folders import each other: ${cycle.join(', ')}`)
}
for (const [file, { imports }] of readSources()) {
  for (const { path, specifier } of imports) {
    if (path !== undefined || specifier.startsWith('node:')) continue
    const owners = [OWNERS[specifier] ?? []].flat()
    if (owners.some((owner) => file === owner || file.startsWith(`${owner}/`))) continue
    const allowed = owners.join(', ') || 'no file'
    problems.push(`${file}: '${specifier}' may be imported only by ${allowed}`)
  }
}

for (const problem of problems) process.stderr.write(`${problem}\n`)
process.exitCode = problems.length > 0 ? 1 : 0
