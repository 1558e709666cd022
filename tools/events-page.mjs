// Writes docs/events.md from the doc comments of the events. A test tells when it is due.
import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { markdownTable } from './markdown-table.mjs'
import { readDeclaration, readMembers, readSource, splitAt } from './type-text.mjs'

const PAGE = new URL('../docs/events.md', import.meta.url)

const HEAD = `# Events

<!-- Written by tools/events-page.mjs from the doc comments in packages/core/src. Do not edit. -->

Events report what happens to credentials and requests, for logs and [metrics](metrics.md). No event carries a secret.
Nothing in the library depends on them, and an error that an observer throws is ignored.

\`\`\`ts
import { type CredentialEvent, connect } from 'kubecred'

const observer = (event: CredentialEvent): void => {
  const { type, source } = event
  if (type === 'run-failed') console.error(source.name, event.error.code, event.error.hint)
}
const cluster = await connect({ observer })
\`\`\`

Without changing a program, subscribe to the channel \`kubecred:event\` of \`node:diagnostics_channel\`, which publishes each
event once for the whole process. [metrics.md](metrics.md#events) shows how.

A minor version may add types of events and fields: code that switches over \`type\` needs a default branch.
`

const GROUPS = {
  'Runs of a source': ['run-started', 'run-succeeded', 'run-failed', 'retired'],
  'Plugins and signers': ['policy', 'plugin-started', 'plugin-stderr', 'plugin-ended'],
  'Signatures and prompts': ['signed', 'sign-failed', 'user-prompt', 'prompt-ended'],
  'Requests and connections': ['attached', 'detached', 'refused', 'retried', 'ca-reload'],
  'Login handlers and vaults': [
    ...['logged-in', 'login-retried', 'log', 'expired'],
    ...['depleted', 'frozen', 'thawed', 'failed'],
  ],
  Problems: ['warning', 'unexpected-error'],
}

/** Types that fields have, and where they are declared. */
const TYPES = {
  SourceLabel: 'ports/observer.ts',
  Reason: 'lifecycle/state.ts',
  LoginCause: 'ports/observer.ts',
  CredentialPart: 'ports/observer.ts',
  Validity: 'ports/observer.ts',
  ProcessEnd: 'ports/observer.ts',
  LoginOutcome: 'errors/login-errors.ts',
}
const MIXED_IN = {
  AuthorityReload: 'ports/observer.ts',
  UnexpectedError: 'errors/unexpected-error.ts',
}

/** Returns the whole page as Markdown. */
export function eventsPage() {
  const events = readEvents()
  const named = Object.values(GROUPS).flat().sort().join()
  const existing = events.map(({ type }) => type).sort()
  if (named !== existing.join()) throw new Error(`the groups must name: ${existing.join()}`)
  const sections = Object.entries(GROUPS).map(([title, types]) => {
    const own = types.map((type) => events.find((event) => event.type === type))
    return `\n## ${title}\n${own.map(eventSection).join('')}`
  })
  const [source] = readMembers(
    readDeclaration(readSource(TYPES.SourceLabel), 'CredentialEvent').text,
  )
  const every = `\n## Fields of every event\n\n${table([
    { name: 'type', type: 'string', meaning: 'One of the types below.' },
    source,
  ])}`
  const types = Object.entries(TYPES).map(([name, path]) => typeSection(name, path))
  return [HEAD, every, ...sections, '\n## Types of fields\n', ...types].join('')
}

/** The alternatives of `CredentialEvent`: `{ type, meaning, fields }`. */
function readEvents() {
  const { text } = readDeclaration(readSource('ports/observer.ts'), 'CredentialEvent')
  const [, union] = splitAt(text, '&')
  const alternatives = splitAt(union.trim().slice(1, -1), '|').filter((each) => each.includes('{'))
  return alternatives.map((alternative) => {
    const [type, ...fields] = readMembers(alternative)
    const [, mixedIn] = /& (\w+)\)\s*$/.exec(alternative) ?? []
    const more = mixedIn
      ? readMembers(readDeclaration(readSource(MIXED_IN[mixedIn]), mixedIn).text)
      : []
    return { ...type, type: type.type.replaceAll("'", ''), fields: [...fields, ...more] }
  })
}

function eventSection({ type, meaning, isExperimental, fields }) {
  if (!meaning) throw new Error(`${type} has no doc comment`)
  const whole = isExperimental ? `${meaning} Experimental.` : meaning
  return `\n### ${type}\n\n${whole}\n${fields.length > 0 ? `\n${table(fields)}` : ''}`
}

function typeSection(name, path) {
  const { meaning, text } = readDeclaration(readSource(path), name)
  const shown = text.startsWith('{') ? table(readMembers(text)) : `\`${text}\`\n`
  return `\n### ${name}\n\n${meaning}\n\n${shown}`
}

function table(fields) {
  const rows = fields.map(({ name, isOptional, type, meaning }) => {
    if (!meaning) throw new Error(`${name} has no doc comment`)
    const isMissing = isOptional && !type.endsWith('| undefined')
    return [`\`${name}\``, linkType(type) + (isMissing ? ' or absent' : ''), meaning]
  })
  return markdownTable([['field', 'type', 'meaning'], ...rows])
}

function linkType(type) {
  const name = Object.keys(TYPES).find((each) => type.split(/\W/).includes(each))
  return name === undefined ? `\`${type}\`` : `[\`${type}\`](#${name.toLowerCase()})`
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeFileSync(PAGE, eventsPage())
}
