// Writes the manual page from the table of commands of the built program. A test fails if the page is outdated.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = (path) => new URL(`../packages/cli/${path}`, import.meta.url)
const { COMMANDS } = await import(here('dist/command-table.js'))
const { manPage } = await import(here('dist/render/man-page.js'))
const { VERSION } = await import('kubecred')
writeFileSync(fileURLToPath(here('man/kubecred.1')), manPage(COMMANDS, VERSION))
