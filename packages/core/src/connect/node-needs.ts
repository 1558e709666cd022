import { readFileSync } from 'node:fs'
// Not `{ createRequire }`: see client-node-module.ts.
import nodeModule from 'node:module'
import { dirname, join } from 'node:path'
import process from 'node:process'

interface Manifest {
  readonly name?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly engines?: { readonly node?: string }
}

/**
 * Says what a package needs a newer Node for: itself, or one of its dependencies. Undefined when this Node will do.
 *
 * To be asked before it is loaded: a package that breaks while it is loaded may end the whole process, because Node
 * reports the error a second time where nobody can catch it.
 *
 * @param entry The file that would be loaded.
 */
export function describeNodeNeeds(name: string, entry: string): string | undefined {
  const manifest = findOwn(name, dirname(entry))
  const places = nodeModule.createRequire(entry).resolve.paths(name) ?? []
  const dependencies = Object.keys(manifest?.dependencies ?? {}).map((each) => {
    const found = places.map((place) => readManifest(join(place, each))).find(Boolean)
    return { ...found, name: each }
  })
  const needing = [{ ...manifest, name }, ...dependencies].find(
    ({ engines }) => typeof engines?.node === 'string' && isTooNew(engines.node),
  )
  return needing && `${needing.name} needs Node ${needing.engines?.node}`
}

function findOwn(name: string, folder: string): Manifest | undefined {
  const manifest = readManifest(folder)
  if (manifest?.name === name) return manifest
  return dirname(folder) === folder ? undefined : findOwn(name, dirname(folder))
}

function readManifest(folder: string): Manifest | undefined {
  try {
    return Object(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))) as Manifest
  } catch {
    return undefined
  }
}

/** Looks only at ranges of the form `>=22.19.0`: what else they may be is for the package manager to say. */
function isTooNew(range: string): boolean {
  const [, ...wanted] = /^>=\s*(\d+)(?:\.(\d+))?(?:\.(\d+))?$/.exec(range.trim()) ?? []
  const here = process.versions.node.split('.').map(Number)
  const differing = wanted.findIndex((part, at) => Number(part ?? 0) !== here[at])
  return differing !== -1 && Number(wanted[differing] ?? 0) > (here[differing] ?? 0)
}
