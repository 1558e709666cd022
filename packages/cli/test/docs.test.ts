import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { COMMANDS } from '../src/command-table.ts'
import { runFake } from './run-fake.ts'

const page = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8')

/** Code blocks with a command line whose output does not depend on a cluster. */
const pasted = [
  ...page.matchAll(/^```\n\$ kubecred (.*(?:--help|explain.*|help.*|options))\n([\s\S]*?)^```$/gm),
]

it.each(pasted.map(([, line = '', output = '']) => ({ line, output })))(
  'docs/cli.md shows what kubecred $line prints',
  async ({ line, output }) => {
    expect((await runFake(line.split(' '))).out).toBe(output)
  },
)

it('docs/cli.md has the help of every command, and all codes', () => {
  const lines = pasted.map(([, line]) => line)
  const expected = COMMANDS.filter(({ name }) => name !== 'help').map(
    ({ name }) => `${name} --help`,
  )
  expect(lines).toEqual(expect.arrayContaining(['help', 'explain', ...expected]))
})
