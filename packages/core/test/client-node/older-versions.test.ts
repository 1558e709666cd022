import { pathToFileURL } from 'node:url'
import { describe } from 'vitest'
import { describeRequests } from './requests.ts'
import type { ClientNode } from './stage.ts'

interface ExtraPackages {
  readonly CLIENT_NODES: readonly string[]
  findInPackage(name: string, file: string): string | undefined
}

const { CLIENT_NODES, findInPackage }: ExtraPackages = await import(
  new URL('../../../../tools/extra-packages.mjs', import.meta.url).href
)

for (const version of CLIENT_NODES) {
  const path = findInPackage(`client-node-${version}`, 'dist/index.js')
  const title = `@kubernetes/client-node ${version}`
  if (path === undefined) {
    describe.skip(`${title} is not here: KUBECRED_INSTALL=1 npm run test:long brings it`, () => {})
    continue
  }
  // The part that the tests use has the same shape in all versions.
  const client: ClientNode = await import(pathToFileURL(path).href)
  describe(title, () => describeRequests(client))
}
