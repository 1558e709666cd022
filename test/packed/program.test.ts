import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { tarball } from './installed.ts'

const read = (...args: string[]): string => execFileSync('tar', args, { encoding: 'utf8' })

it('the tarball of the program has the needed files and nothing else', () => {
  const files = read('-tzf', tarball('@kubecred/cli')).trim().split('\n')
  const expected =
    /^package\/(?:bin\/kubecred(?:-token)?\.[cm]js|dist\/bundle\/[\w-]+\.c?js|dist\/bundle\/LICENSES\.txt|man\/kubecred\.1|page\/[\w-]+\.(?:js|css|html|svg)|package\.json|README\.md|LICENSE)$/
  expect(files.filter((file) => !expected.test(file))).toEqual([])
})

it('the program needs no other package', () => {
  const manifest = JSON.parse(read('-xOzf', tarball('@kubecred/cli'), 'package/package.json'))
  expect(manifest).not.toHaveProperty('dependencies')
  expect(manifest).not.toHaveProperty('optionalDependencies')
  expect(manifest).not.toHaveProperty('peerDependencies')
})

it('the program has the licenses of all bundled packages', () => {
  const licenses = read('-xOzf', tarball('@kubecred/cli'), 'package/dist/bundle/LICENSES.txt')
  for (const name of ['undici', 'yaml', 'oauth4webapi', 'prom-client', 'fast-string-width']) {
    expect(licenses).toMatch(new RegExp(`^${name} \\d`, 'm'))
  }
})
