// Writes docs/api with typedoc, from the declarations of a build: `npm run docs:api`. A test checks that the pages have
// what the subpaths export. This folder has a manifest of its own, because typedoc needs a TypeScript older than 7.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Application, ReflectionKind } from 'typedoc'
import { anchorsOf } from '../docs/check-links.mjs'
import { listSubpaths } from '../exported-names.mjs'

const out = new URL('../../docs/api/', import.meta.url)
const subpaths = listSubpaths()
const NOTE = '<!-- Written by npm run docs:api. Do not edit. -->'

const app = await Application.bootstrapWithPlugins({
  plugin: ['typedoc-plugin-markdown'],
  tsconfig: fileURLToPath(new URL('tsconfig.json', import.meta.url)),
  entryPoints: subpaths.map(({ types }) => types),
  name: 'kubecred',
  out: fileURLToPath(out),
  readme: 'none',
  disableSources: true,
  excludeExternals: true,
  excludeInternal: true,
  excludePrivate: true,
  excludeProtected: true,
  router: 'module',
  hideBreadcrumbs: true,
  hidePageHeader: true,
  expandParameters: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  classPropertiesFormat: 'table',
  typeAliasPropertiesFormat: 'table',
  propertyMembersFormat: 'table',
  typeDeclarationFormat: 'table',
  tableColumnSettings: { hideModifiers: true, hideOverrides: true, hideInherited: true },
})
app.options.setValue('pageTitleTemplates', { module: ({ name }) => titleOf(name) })
const project = await app.convert()
if (project === undefined) process.exit(1)

for (const module of project.children) {
  module.name = subpaths.find(({ types }) => moduleName(types) === module.name).page
}
const reflections = Object.values(project.reflections)
const removed = new Set(reflections.filter(isUseless))
for (const each of removed) project.removeReflection(each)
for (const reflection of reflections) {
  // The pages show groups, which are made before anything can be removed.
  for (const group of reflection.groups ?? []) {
    group.children = group.children.filter((child) => !removed.has(child))
  }
  reflection.groups = reflection.groups?.filter(({ children }) => children.length > 0)
  // A parameter that is taken apart has no name.
  if (reflection.name === '__namedParameters') reflection.name = 'options'
  reflection.implementedTypes = undefined
  reflection.implementationOf = undefined
}

rmSync(out, { recursive: true, force: true })
await app.generateOutputs(project)
const pages = new Map(subpaths.map(({ page }) => [`${page}.md`, readOut(`${page}.md`)]))
const anchors = new Map([...pages].map(([page, text]) => [page, anchorsOf(text.split('\n'))]))
for (const [page, text] of pages) {
  writeFileSync(new URL(page, out), repairLinks(page, text).replace('\n', `\n\n${NOTE}\n`))
}
writeFileSync(new URL('README.md', out), indexPage())

/** The name that typedoc gives to the module of a file. */
function moduleName(types) {
  return types.replace(/^.*\/dist\//, '').replace(/(?<=.)\/index\.d\.ts$|\.d\.ts$/, '')
}

/** Members that programs do not use: keyed by our symbols, inherited by an error, or the constructor of what we make. */
function isUseless({ name, kind, parent, inheritedFrom }) {
  if (kind === ReflectionKind.Constructor) return isError(parent) || parent.name === 'Cluster'
  if (name.startsWith('[')) return name !== '[asyncDispose]'
  return isError(parent) && inheritedFrom !== undefined
}

function isError(reflection) {
  const bases = (reflection?.extendedTypes ?? []).join()
  return reflection?.name === 'CredentialError' || /FamilyError|CredentialError/.test(bases)
}

function readOut(page) {
  return readFileSync(new URL(page, out), 'utf8')
}

/** typedoc counts `ClusterStatus` as the second of its name if there is a `Cluster.status`; GitHub does not. */
function repairLinks(page, text) {
  return text.replace(/\]\(([\w-]+\.md)?#([\w-]+)-\d+\)/g, (link, file = '', slug) => {
    const isRight = anchors.get(file || page).has(link.slice(link.indexOf('#') + 1, -1))
    return isRight ? link : `](${file}#${slug})`
  })
}

function titleOf(page) {
  return page === 'kubecred' ? page : `kubecred/${page}`
}

function indexPage() {
  const lines = subpaths.map(
    ({ page, exports }) =>
      `- [\`${titleOf(page)}\`](${page}.md): ${exports.map((name) => `\`${name}\``).join(', ')}`,
  )
  return `# API reference

${NOTE}

What each subpath of the library exports, from its types and doc comments.

${lines.join('\n')}
`
}
