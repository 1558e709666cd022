// Writes docs/errors.md from the table of error codes. Run it after a build; a test fails if the page is outdated.
import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { markdownTable } from './markdown-table.mjs'

const PAGE = new URL('../docs/errors.md', import.meta.url)

const GROUPS = [
  { title: 'Kubeconfig and the files it names', from: 10, to: 29 },
  { title: 'Plugins', from: 30, to: 49 },
  { title: 'The plugin policy', from: 50, to: 59 },
  { title: 'Requests', from: 60, to: 89 },
  { title: 'Writing plugins', from: 90, to: 94 },
  { title: 'This machine', from: 95, to: 99 },
]

const HEAD = `# Error codes

<!-- Written by tools/errors-page.mjs from the table in packages/core/src/errors. Do not edit. -->

Everything that this library throws on purpose is a \`CredentialError\`. Its \`code\` is one of those below and never changes
its meaning, \`message\` says what happened, \`hint\` what to do about it, \`cause\` what was underneath. None of them ever
carries a token, a key, a password or what a plugin printed to standard output.

\`\`\`ts
import { isCredentialError } from 'kubecred/errors'

try {
  await cluster.fetch('/api/v1/pods')
} catch (error) {
  if (!isCredentialError(error)) throw error
  console.error(\`\${error.code}: \${error.message}\\n\${error.hint}\`)
}
\`\`\`

- **exit**: exit status of the program.
- **fault**: who has to act.
- **retry**: whether the same call may succeed later with nothing changed by hand. Where it may, the library itself waits
  longer and longer between its own tries; \`nextTryAt\` says until when.
`

/** Returns the page as Markdown. */
export function errorsPage(codes) {
  const rows = Object.entries(codes)
  const sections = GROUPS.map(({ title, from, to }) => {
    const own = rows.filter(([, { exit }]) => exit >= from && exit <= to)
    return `\n## ${title}\n\n${table(own)}`
  })
  return HEAD + sections.join('')
}

function table(rows) {
  const lines = rows.map(([code, { exit, fault, retryable, meaning, remedy }]) => [
    `\`${code}\``,
    String(exit),
    fault,
    retryable ? 'yes' : 'no',
    meaning,
    remedy,
  ])
  return markdownTable([['code', 'exit', 'fault', 'retry', 'meaning', 'remedy'], ...lines])
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { CODES } = await import('../packages/core/dist/errors/index.js')
  writeFileSync(PAGE, errorsPage(CODES))
}
