// Dependencies point one way, and this table is the only place that says which way.
// A layer may import itself and the layers listed for it. `pure` layers may not import node:*.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, sep } from 'node:path'

const base = ['core/src/errors', 'core/src/secret']
const formats = [...base, 'core/src/protocol', 'core/src/kubeconfig']
const machine = [...formats, 'core/src/lifecycle']
const ports = [...machine, 'core/src/ports']
const engine = [...ports, 'core/src/signer', 'core/src/sources', 'core/src/vault']
const world = [...engine, 'core/src/node', 'core/src/tls']
const sending = [...world, 'core/src/dial', 'core/src/exchange', 'core/src/request']
const network = [...sending, 'core/src/bridge']
const face = [...network, 'core/src/connect', 'core/src/testing']

const LAYERS = {
  'core/src/errors': { may: ['core/src/secret'], pure: true },
  'core/src/secret': { may: [], pure: true },
  'core/src/protocol': { may: formats, pure: true },
  'core/src/kubeconfig': { may: formats, pure: true },
  'core/src/lifecycle': { may: formats, pure: true },
  'core/src/ports': { may: machine, pure: true },
  'core/src/signer': { may: [...ports, 'core/src/signer'], pure: true },
  'core/src/sources': { may: engine, pure: true },
  'core/src/vault': { may: engine, pure: true },
  'core/src/node': { may: engine },
  'core/src/tls': { may: engine },
  'core/src/dial': { may: world },
  'core/src/exchange': { may: [...world, 'core/src/dial'] },
  'core/src/request': { may: [...world, 'core/src/dial', 'core/src/exchange'] },
  'core/src/bridge': { may: sending },
  'core/src/connect': { may: [...network, 'core/src/version.ts'] },
  'core/src/agent': { may: [...network, 'core/src/connect', 'core/src/version.ts'] },
  'core/src/adapters': { may: [...network, 'core/src/connect', 'core/src/version.ts'] },
  'core/src/proxy': { may: [...network, 'core/src/connect', 'core/src/version.ts'] },
  'core/src/metrics': { may: network, pure: true },
  'core/src/authoring': { may: [...network, 'core/src/version.ts'] },
  'core/src/testing': { may: network },
  'core/src/version.ts': { may: [], pure: true },
  'core/src/index.ts': { may: [...face, 'core/src/version.ts'] },
  'pkcs11/src': { may: [] },
  'sandbox/src': { may: [] },
  'cli/src': { may: [] },
  'demo/src': { may: [] },
}

/** Third-party modules, and the one layer (or the files) that may import each. */
const OWNERS = {
  yaml: [
    'core/src/protocol/yaml.ts',
    'core/src/protocol/edit-yaml.ts',
    'core/src/protocol/edit-yaml-list.ts',
  ],
  oauth4webapi: 'core/src/node/oidc-issuer.ts',
  undici: 'core/src/exchange',
  '@peculiar/x509': 'sandbox/src',
  ws: ['sandbox/src', 'core/src/adapters/ws'],
  pkcs11js: 'pkcs11/src',
  'prom-client': 'cli/src/proxy',
  kubecred: ['cli/src', 'demo/src'],
  'kubecred/agent': ['cli/src', 'demo/src'],
  'kubecred/diagnose': 'cli/src',
  'kubecred/errors': 'cli/src',
  'kubecred/metrics': 'cli/src',
  'kubecred/proxy': ['cli/src', 'demo/src'],
  'kubecred/signer': ['pkcs11/src', 'demo/src/signer-program.ts'],
  '@kubecred/sandbox': 'demo/src',
  '@kubecred/cli/internal': 'demo/src',
}

const problems = []
for (const name of readdirSync('packages', { recursive: true })) {
  const file = name.split(sep).join('/')
  if (!/^[^/]+\/src\/.*\.ts$/.test(file)) continue
  const layer = layerOf(file)
  if (layer === undefined) {
    problems.push(`${file}: belongs to no layer; add its folder to tools/check-layers.mjs`)
    continue
  }
  for (const specifier of specifiersOf(readFileSync(join('packages', name), 'utf8'))) {
    check(file, layer, specifier)
  }
}

for (const problem of problems) process.stderr.write(`${problem}\n`)
process.exitCode = problems.length > 0 ? 1 : 0

function check(file, layer, specifier) {
  if (specifier.startsWith('node:')) {
    if (LAYERS[layer].pure) problems.push(`${file}: pure layer '${layer}' imports '${specifier}'`)
    return
  }
  if (!specifier.startsWith('.')) {
    const owners = [OWNERS[specifier] ?? []].flat()
    if (!owners.some((owner) => isWithin(file, owner))) {
      const allowed = owners.join(', ') || 'nobody'
      problems.push(`${file}: '${specifier}' may be imported only by ${allowed}`)
    }
    return
  }
  const path = normalize(join(dirname(file), specifier))
    .split(sep)
    .join('/')
  const target = layerOf(path)
  if (target !== layer && !LAYERS[layer].may.includes(target)) {
    problems.push(`${file}: '${layer}' may not import '${target}' (${specifier})`)
  }
}

function layerOf(file) {
  return Object.keys(LAYERS)
    .filter((layer) => isWithin(file, layer))
    .sort((a, b) => b.length - a.length)[0]
}

function isWithin(file, folder) {
  return file === folder || file.startsWith(`${folder}/`)
}

/** Static imports, re-exports, `import('…')` in code and in types. */
function specifiersOf(source) {
  const found = [
    ...source.matchAll(/^(?:import|export)\b[^'"]*?from '([^']+)'/gm),
    ...source.matchAll(/^import '([^']+)'/gm),
    ...source.matchAll(/\bimport\('([^']+)'\)/g),
  ]
  return found.map(([, specifier]) => specifier)
}
