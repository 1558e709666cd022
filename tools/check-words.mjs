// Part of `npm run check`: phrases that readers stumbled over, in sources, tests, docs, help and messages. Each has a plain
// replacement. The list is short on purpose: it keeps old habits from coming back, it does not teach style.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const PHRASES = [
  [
    /\b(?:is|are|be|been|was|were) told\b|\btold of\b/i,
    'say who reports what: "is reported", "receives"',
  ],
  [/\bunless told\b/i, 'say "by default"'],
  [/\b(?:[Nn]obody|[Ss]omebody|[Ww]hoever)\b/, 'say who: "no caller", "a caller", "the user"'],
  [/\bwho waits?\b/i, 'say "waiting requests"'],
  [/\bof now\b/i, 'say "current"'],
  [/\b(?:can|could|was|were|be) had\b/i, 'say "is available" or "was received"'],
  [
    /(?<!there )\bis no (?:text|string|number|file|path|object|list|request|answer|limit|news)\b/i,
    'say "is not a …"',
  ],
  [/\bin vain\b/i, 'say "without success"'],
  [/\bfor ever\b/i, 'say "forever", or the limit'],
  [/\bwish(?:es|ed)?\b/i, 'say "request", "option" or "setting"'],
  [/\b(?:MOST|LONGEST|SHORTEST|LEAST)_[A-Z]/, 'limits are MAX_… and MIN_…'],
]

const root = fileURLToPath(new URL('..', import.meta.url))
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter(
    (file) =>
      /\.(?:ts|mjs|cjs|js|md|html|ya?ml|sh)$/.test(file) &&
      file !== 'tools/check-words.mjs' &&
      existsSync(`${root}${file}`),
  )

let found = 0
for (const file of files) {
  const lines = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8').split('\n')
  for (const [index, line] of lines.entries()) {
    for (const [phrase, better] of PHRASES) {
      const match = phrase.exec(line)
      if (match === null) continue
      found += 1
      process.stderr.write(`${file}:${index + 1}: "${match[0]}": ${better}\n`)
    }
  }
}
process.exitCode = found === 0 ? 0 : 1
