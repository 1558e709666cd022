// Writes the manual page from the built program's own table of commands. A test checks that it agrees.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = (path) => new URL(`../packages/cli/${path}`, import.meta.url)
const { COMMANDS } = await import(here('dist/command-table.js'))
const { manPage } = await import(here('dist/render/man-page.js'))
const { VERSION } = await import('kubecred')
writeFileSync(fileURLToPath(here('man/kubecred.1')), manPage(COMMANDS, VERSION))
