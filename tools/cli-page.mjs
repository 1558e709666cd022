// Writes the help and the table of codes in docs/cli.md from the built program. A test fails if the page is outdated.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const page = fileURLToPath(new URL('../docs/cli.md', import.meta.url))
const program = fileURLToPath(new URL('../packages/cli/bin/kubecred.cjs', import.meta.url))
const PASTED = /^```\n\$ kubecred (.*(?:--help|explain.*|help.*|options))\n[\s\S]*?^```$/gm

const text = readFileSync(page, 'utf8').replace(PASTED, (_block, line) => {
  const { stdout } = spawnSync(process.execPath, [program, ...line.split(' ')])
  return `\`\`\`\n$ kubecred ${line}\n${stdout}\`\`\``
})
writeFileSync(page, text)
