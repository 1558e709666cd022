// Writes docs/options.md from the doc comments of the options of connect(). A test tells when it is due.
import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { markdownTable } from './markdown-table.mjs'
import { readDeclaration, readMembers, readSource } from './type-text.mjs'

const PAGE = new URL('../docs/options.md', import.meta.url)

const HEAD = `# Options of connect()

<!-- Written by tools/options-page.mjs from the doc comments in packages/core/src. Do not edit. -->

Every option may be left out: \`connect()\` without options uses the kubeconfig that kubectl uses. An option that does not
exist is a \`TypeError\`, and so is a value that cannot apply.

\`\`\`ts
import { connect } from 'kubecred'

const cluster = await connect({
  context: 'prod',
  observer: ({ type, source }) => console.error(type, source.name),
  policy: { pluginTimeoutMs: 20_000, pluginEnv: ['PATH', 'HOME', 'AWS_PROFILE'] },
})
\`\`\`
`

const OPTIONS = {
  'Where credentials come from': ['kubeconfig', 'vault', 'env', 'kuberc', 'saveOidcTokens'],
  'Lifetime, events and prompts': ['signal', 'observer', 'onPrompt', 'stdinUnavailable'],
  'Connections and limits': ['transport', 'policy'],
}

const POLICY = {
  Plugins: [
    'pluginTimeoutMs',
    'interactiveTimeoutMs',
    'pluginOutputBytes',
    'pluginLimit',
    'pluginEnv',
    'pluginFolders',
    'refuseWritablePlugins',
    'v1alpha1Kind',
  ],
  'Failures and refused credentials': ['refreshOn', 'backoffFirstMs', 'backoffLimitMs'],
  'Requests and connections': ['requestLimit', 'streamLimit', 'drainLimitMs', 'signerIdleMs'],
}

/** What a new server and a new method drop. */
const REPLACES = `An override replaces the field of the entry it belongs to. Some replace more than that:

- \`server\` drops the entry's \`tls-server-name\`, which belonged to the old server.
- \`insecureSkipTlsVerify\` drops the CA of the entry; a CA drops the entry's \`insecure-skip-tls-verify\` and its other CA.
- \`token\`, \`username\` and \`password\` drop every other method of the user entry that ends in an \`Authorization\` header.
  A client certificate of the entry remains.

Empty text and an empty list override nothing.
`

/** Returns the whole page as Markdown. */
export function optionsPage() {
  const options = readSource('connect/connect-options.ts')
  const overrides = readSource('kubeconfig/overrides.ts')
  const own = readMembers(readDeclaration(options, 'ConnectOptions').text)
  const policy = readMembers(readDeclaration(options, 'ConnectPolicy').text)
  return [
    HEAD,
    ...sections('##', OPTIONS, own),
    `\n## Overrides\n\n${REPLACES}`,
    `\n### Entries of the kubeconfig\n\n`,
    overrideTable(readMembers(readDeclaration(overrides, 'Overrides').text)),
    `\n### Fields of the cluster entry\n\n${overrideTable(readFields('CLUSTER_FIELDS'))}`,
    `\n### Fields of the user entry\n\n${overrideTable(readFields('USER_FIELDS'))}`,
    '\n## policy\n\nTimes are in milliseconds. Limits are whole numbers above 0; `drainLimitMs` may be 0.\n',
    ...sections('###', POLICY, policy),
  ].join('')
}

/** A table of members for each group. Every member must be in one group. */
function sections(level, groups, members) {
  const named = Object.values(groups).flat().sort().join()
  const existing = members.map(({ name }) => name).sort()
  if (named !== existing.join()) throw new Error(`the groups must name: ${existing.join()}`)
  return Object.entries(groups).map(([title, names]) => {
    const own = names.map((name) => members.find((member) => member.name === name))
    const rows = own.map((member) => {
      const { name, type, defaultValue } = member
      if (!defaultValue) throw new Error(`${name} has no @defaultValue`)
      return [`\`${name}\``, typeCell(type), defaultValue, meaningOf(member)]
    })
    const table = markdownTable([['option', 'type', 'default', 'meaning'], ...rows])
    return `\n${level} ${title}\n\n${table}`
  })
}

/** The fields of a table in fields.ts that are options, as members. */
function readFields(table) {
  const source = readSource('kubeconfig/fields.ts')
  const types = readMembers(readDeclaration(source, 'PlainValues').text)
  return readMembers(readDeclaration(source, table).text).flatMap((field) => {
    const facts = Object.fromEntries(
      readMembers(field.type).map(({ name, type }) => [name, type.replaceAll("'", '')]),
    )
    const { type } = types.find(({ name }) => name === facts.kind)
    return facts.option === 'true' ? { ...field, type, key: facts.key, flag: facts.flag } : []
  })
}

function overrideTable(members) {
  const rows = members.map((member) => [
    `\`${member.name}\``,
    typeCell(member.type),
    member.key === undefined ? '' : `\`${member.key}\``,
    // Data is not a flag: kubectl has none for it either.
    member.key?.endsWith('-data') ? '' : `\`--${member.flag ?? member.key ?? member.name}\``,
    meaningOf(member),
  ])
  return markdownTable([['option', 'type', 'kubeconfig', 'flag', 'meaning'], ...rows])
}

function typeCell(type) {
  const alias = { KubeconfigOption: 'kubeconfig/inline-kubeconfig.ts' }[type.split(' ')[0]]
  const full = alias ? readDeclaration(readSource(alias), type.split(' ')[0]).text : type
  return `\`${full
    .replace(/ \| undefined$/, '')
    .replace(/\breadonly /g, '')
    .replace(/^\((.*)\)$/, '$1')}\``
}

function meaningOf({ name, meaning, isExperimental }) {
  if (!meaning) throw new Error(`${name} has no doc comment`)
  return isExperimental ? `${meaning} Experimental.` : meaning
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeFileSync(PAGE, optionsPage())
}
