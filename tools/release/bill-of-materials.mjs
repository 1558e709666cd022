// Writes the software bill of materials of a release, in CycloneDX 1.6: our packages, everything that npm installs with them,
// and everything that is bundled into the program.
//
// Not `npm sbom`: it needs a version for the workspace, and with `--omit dev` it leaves out dependencies of our packages that
// the workspace uses, too (undici, yaml).

/**
 * Returns the bill of materials.
 *
 * @param {object} release
 * @param {string} release.version
 * @param {string} release.timestamp The time of the commit, so that the same commit gives the same file.
 * @param {{ packages: Record<string, object> }} release.lock package-lock.json.
 * @param {{ folder: string, name: string, sha256: string, bundled: readonly { name: string, version: string }[] }[]} release.packages
 *   Our packages, with the digests of their files and the packages inside of them.
 */
export function billOfMaterials({ version, timestamp, lock, packages }) {
  const main = `pkg:generic/kubecred@${version}`
  const graph = new Map()
  for (const { folder } of packages) visit(lock, folder, graph)
  const own = new Map(packages.map((each) => [each.folder, each]))
  const components = new Map()
  const edges = new Map([[main, new Set(packages.map(({ folder }) => purlOf(lock, folder)))]])
  for (const [path, needed] of graph) {
    const purl = purlOf(lock, path)
    components.set(purl, componentOf(lock, path, own.get(path)))
    // The same version may be installed in several folders.
    edges.set(purl, new Set([...(edges.get(purl) ?? []), ...needed.map((to) => purlOf(lock, to))]))
  }
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp,
      component: { type: 'application', 'bom-ref': main, name: 'kubecred', version },
    },
    components: sorted(components).map(([, component]) => component),
    dependencies: sorted(edges).map(([ref, to]) => ({ ref, dependsOn: [...to].sort() })),
  }
}

/** Reads the names and versions of bundled packages from the file with their licenses (tools/bundle.mjs). */
export function readBundled(licenses) {
  return licenses.split('\n---\n\n').map((part) => {
    const found = /^(?<name>\S+) (?<version>\d+\.\d+\.\d+\S*)\n/.exec(part)
    if (found === null) throw new Error(`not a bundled package: ${part.slice(0, 60)}`)
    return { ...found.groups }
  })
}

/** Adds what a package needs at run time to the graph: paths in the lock file. */
function visit(lock, path, graph) {
  if (graph.has(path)) return
  const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } =
    lock.packages[path]
  const peers = Object.keys(peerDependencies ?? {}).filter(
    (name) => peerDependenciesMeta?.[name]?.optional !== true,
  )
  const needed = new Set([...Object.keys(dependencies ?? {}), ...peers])
  const found = [...needed].map((name) => {
    const at = resolve(lock, path, name)
    if (at === undefined) throw new Error(`package-lock.json has no ${name} for ${path}`)
    return at
  })
  const optional = Object.keys(optionalDependencies ?? {})
    .map((name) => resolve(lock, path, name))
    .filter((at) => at !== undefined)
  const all = [...new Set([...found, ...optional])]
  graph.set(path, all)
  for (const each of all) visit(lock, each, graph)
}

/** Finds a package as Node does: in `node_modules` of the folder, and of each folder above. */
function resolve(lock, from, name) {
  for (let folder = from; ; folder = folder.slice(0, folder.lastIndexOf('/node_modules/'))) {
    const entry = lock.packages[`${folder}/node_modules/${name}`]
    if (entry !== undefined) return entry.link ? entry.resolved : `${folder}/node_modules/${name}`
    if (!folder.includes('/node_modules/')) break
  }
  const entry = lock.packages[`node_modules/${name}`]
  if (entry === undefined) return undefined
  return entry.link ? entry.resolved : `node_modules/${name}`
}

function componentOf(lock, path, own) {
  const purl = purlOf(lock, path)
  const entry = lock.packages[path]
  const inside = (own?.bundled ?? []).map((each) => {
    const at = Object.keys(lock.packages).find(
      (key) => nameAt(lock, key) === each.name && lock.packages[key].version === each.version,
    )
    if (at === undefined) throw new Error(`${each.name} ${each.version} is bundled, but not locked`)
    return { ...describe(lock, at), 'bom-ref': `${purl}#${purlOf(lock, at)}` }
  })
  return {
    ...describe(lock, path),
    'bom-ref': purl,
    scope: entry.optional || entry.devOptional ? 'optional' : 'required',
    ...(own && { hashes: [{ alg: 'SHA-256', content: own.sha256 }] }),
    ...(inside.length > 0 && { components: inside }),
  }
}

function describe(lock, path) {
  const { version, license, integrity } = lock.packages[path]
  const name = nameAt(lock, path)
  const [, group, short] = /^(?:(@[^/]+)\/)?(.+)$/.exec(name)
  return {
    type: 'library',
    ...(group && { group }),
    name: short,
    version,
    purl: purlOf(lock, path),
    ...(license && { licenses: [{ expression: license }] }),
    ...(integrity && { hashes: integrity.split(' ').map(hashOf) }),
  }
}

function hashOf(integrity) {
  const [, algorithm, digest] = /^sha(\d+)-(.+)$/.exec(integrity)
  return {
    alg: `SHA-${algorithm}`,
    content: Buffer.from(digest, 'base64').toString('hex'),
  }
}

function purlOf(lock, path) {
  const name = nameAt(lock, path).replace(/^@/, '%40')
  return `pkg:npm/${name}@${lock.packages[path].version}`
}

/** The name of a package. A lock file has it only where the folder is named differently. */
function nameAt(lock, path) {
  return lock.packages[path].name ?? path.slice(path.lastIndexOf('node_modules/') + 13)
}

function sorted(map) {
  return [...map].sort(([one], [other]) => (one < other ? -1 : 1))
}
