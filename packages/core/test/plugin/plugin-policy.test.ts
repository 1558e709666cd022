import { posix } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ALLOW_ALL,
  checkPluginPolicy,
  cleanPath,
  type FoundExecutable,
  pluginDenialReason,
} from '../../src/plugin/plugin-policy.ts'

const list = (...commands: string[]) => commands.map((command) => ({ command }))

describe('checkPluginPolicy, as in client-go', () => {
  const NON_NIL = 'an allowlist does nothing'
  it.each([
    { type: '', none: 'ok', empty: NON_NIL, some: NON_NIL },
    { type: 'AllowAll', none: 'ok', empty: NON_NIL, some: NON_NIL },
    { type: 'DenyAll', none: 'ok', empty: NON_NIL, some: NON_NIL },
    { type: 'Allowlist', none: 'unspecified', empty: 'is empty', some: 'ok' },
    { type: 'allowlist', none: 'unknown policy', empty: 'unknown policy', some: 'unknown policy' },
    { type: 'ALLOWALL', none: 'unknown policy', empty: 'unknown policy', some: 'unknown policy' },
    { type: 'toString', none: 'unknown policy', empty: 'unknown policy', some: 'unknown policy' },
  ])('$type: no list $none, empty list $empty, one entry $some', ({ type, none, empty, some }) => {
    const resultOf = (allowlist: ReturnType<typeof list> | undefined): string => {
      try {
        checkPluginPolicy({ type, allowlist }, '/kuberc')
        return 'ok'
      } catch (error) {
        return String(error)
      }
    }
    expect(resultOf(undefined)).toContain(none)
    expect(resultOf([])).toContain(empty)
    expect(resultOf(list('aws'))).toContain(some)
  })

  it('allows everything if the policy is missing', () => {
    expect(checkPluginPolicy({ type: undefined, allowlist: undefined }, '/kuberc')).toBe(ALLOW_ALL)
  })

  it.each([
    { entries: ['aws', ''], says: 'entry 2 is empty' },
    { entries: ['./aws'], says: 'entry 1 is not in its shortest form: "./aws"' },
    { entries: ['/usr//bin/aws'], says: 'shortest form' },
    { entries: ['/usr/bin/../bin/aws'], says: 'shortest form' },
    { entries: ['/usr/bin/'], says: 'shortest form' },
  ])('rejects the entries $entries', ({ entries, says }) => {
    const check = () => checkPluginPolicy({ type: 'Allowlist', allowlist: list(...entries) }, '/k')
    expect(check).toThrow(says)
    expect(check).toThrow('plugin policy in "/k"')
  })
})

/** A machine: where each command is found. */
function machine(files: Readonly<Record<string, string | FoundExecutable>>) {
  const find = (command: string): FoundExecutable | undefined => {
    const found = files[command]
    return typeof found === 'string' ? { path: found, realPath: found } : found
  }
  return {
    found: (command: string) => find(command) ?? { path: command, realPath: command },
    lookup: { find: async (command: string) => find(command), sha256: async () => 'ab'.repeat(32) },
  }
}

async function isAllowed(
  entry: { command: string; sha256?: string },
  command: string,
  files: Readonly<Record<string, string | FoundExecutable>>,
): Promise<boolean> {
  const { found, lookup } = machine(files)
  const policy = checkPluginPolicy({ type: 'Allowlist', allowlist: [entry] }, '/kuberc')
  return (await pluginDenialReason(policy, command, found(command), lookup)) === undefined
}

describe('an allowlist, as in KEP-3104', () => {
  const both = { '/usr/bin/x': '/usr/bin/x', '/usr/local/bin/x': '/usr/local/bin/x' }
  it.each([
    { entry: 'x', command: '/usr/bin/x', x: '/usr/local/bin/x', allowed: false },
    { entry: 'x', command: '/usr/bin/x', x: '/usr/bin/x', allowed: true },
    { entry: '/usr/bin/x', command: '/usr/bin/x', x: '/usr/local/bin/x', allowed: true },
    { entry: '/usr/bin/x', command: 'x', x: '/usr/bin/x', allowed: true },
    { entry: '/usr/bin/x', command: 'x', x: '/usr/local/bin/x', allowed: false },
    { entry: 'x', command: 'x', x: '/usr/bin/x', allowed: true },
    { entry: 'y', command: 'x', x: '/usr/bin/x', allowed: false },
    { entry: '/usr/bin/x', command: '/usr/bin/../bin/x', x: '/usr/bin/x', allowed: true },
  ])(
    'entry $entry, command $command, x at $x: $allowed',
    async ({ entry, command, x, allowed }) => {
      const files = { ...both, '/usr/bin/../bin/x': '/usr/bin/x', x, y: '/usr/bin/y' }
      expect(await isAllowed({ command: entry }, command, files)).toBe(allowed)
    },
  )

  it('allows a plugin that matches any entry', async () => {
    const { found, lookup } = machine({ x: '/usr/bin/x', y: '/usr/bin/y' })
    const policy = checkPluginPolicy({ type: 'Allowlist', allowlist: list('z', 'y', 'x') }, '/k')
    expect(await pluginDenialReason(policy, 'x', found('x'), lookup)).toBeUndefined()
  })

  it('names the path and the file in a denial', async () => {
    const { found, lookup } = machine({ x: '/usr/bin/x' })
    const policy = checkPluginPolicy({ type: 'Allowlist', allowlist: list('y') }, '/kuberc')
    expect(await pluginDenialReason(policy, 'x', found('x'), lookup)).toBe(
      '"/usr/bin/x" is not in the allowlist of "/kuberc"',
    )
  })
})

describe('a policy without a list', () => {
  it('allows every plugin, or none and names the file', async () => {
    const { found, lookup } = machine({})
    const reasonUnder = (type: string) =>
      pluginDenialReason(
        checkPluginPolicy({ type, allowlist: undefined }, '/kuberc'),
        'x',
        found('x'),
        lookup,
      )
    expect(await reasonUnder('AllowAll')).toBeUndefined()
    expect(await reasonUnder('DenyAll')).toBe('the policy in "/kuberc" is DenyAll')
  })
})

describe('an allowlist, beyond KEP-3104', () => {
  it.each([
    ['x', 'the command as it is configured'],
    ['/a/x', 'the path at which it was found'],
  ])('allows the same file at another path if the entry %s is %s', async (entry) => {
    const found = { path: '/a/x', realPath: '/opt/x' }
    const { lookup } = machine({ [entry]: { path: '/b/x', realPath: '/opt/x' } })
    const policy = checkPluginPolicy({ type: 'Allowlist', allowlist: list(entry) }, '/k')
    expect(await pluginDenialReason(policy, 'x', found, lookup)).toBeUndefined()
  })

  it('does not look for entries with another name', async () => {
    const { found, lookup } = machine({ x: '/usr/bin/x' })
    const policy = checkPluginPolicy({ type: 'Allowlist', allowlist: list('y', '/x/z') }, '/k')
    const find = () => expect.fail('it was looked for')
    expect(await pluginDenialReason(policy, 'x', found('x'), { ...lookup, find })).toBeDefined()
  })

  const shim = { path: '/shims/x', realPath: '/opt/shim' }

  it('denies another name of the same file', async () => {
    const files = { '/shims/x': shim, '/shims/y': { path: '/shims/y', realPath: '/opt/shim' } }
    expect(await isAllowed({ command: '/shims/y' }, '/shims/x', files)).toBe(false)
  })

  it('denies a link of the same name in another folder', async () => {
    const files = {
      x: { path: '/a/x', realPath: '/opt/x' },
      '/b/x': { path: '/b/x', realPath: '/opt/x' },
    }
    expect(await isAllowed({ command: 'x' }, '/b/x', files)).toBe(false)
  })

  it('denies a link that was changed since the plugin was found', async () => {
    const { lookup } = machine({ '/usr/bin/x': { path: '/usr/bin/x', realPath: '/opt/new' } })
    const found = { path: '/usr/bin/x', realPath: '/opt/old' }
    const policy = checkPluginPolicy({ type: 'Allowlist', allowlist: list('/usr/bin/x') }, '/k')
    expect(await pluginDenialReason(policy, '/usr/bin/x', found, lookup)).toContain(
      'not in the allowlist',
    )
  })

  it('denies everything for an entry that does not exist', async () => {
    expect(await isAllowed({ command: '/usr/bin/x' }, 'x', { x: '/usr/bin/x' })).toBe(false)
  })

  it('requires the digest, in upper or lower case', async () => {
    const files = { x: '/usr/bin/x' }
    expect(await isAllowed({ command: 'x', sha256: 'AB'.repeat(32) }, 'x', files)).toBe(true)
    expect(await isAllowed({ command: 'x', sha256: 'cd'.repeat(32) }, 'x', files)).toBe(false)
  })
})

describe('cleanPath', () => {
  it.each([
    ['', '.'],
    ['.', '.'],
    ['./x', 'x'],
    ['a//b', 'a/b'],
    ['a/b/', 'a/b'],
    ['a/../b', 'b'],
    ['../a', '../a'],
    ['../../a', '../../a'],
    ['a/../../b', '../b'],
    ['/..', '/'],
    ['/../a', '/a'],
    ['//a', '/a'],
    ['/', '/'],
  ])('turns %j into %j', (path, shortest) => {
    expect(cleanPath(path)).toBe(shortest)
  })

  it('agrees with path.posix.normalize except for a trailing slash', () => {
    const part = fc.constantFrom('..', '.', '', 'a', 'b', '...')
    fc.assert(
      fc.property(fc.array(part), fc.boolean(), (parts, rooted) => {
        const path = `${rooted ? '/' : ''}${parts.join('/')}`
        const normal = posix.normalize(path)
        expect(cleanPath(path)).toBe(normal.length > 1 ? normal.replace(/\/$/, '') : normal)
      }),
    )
  })

  it('is idempotent', () => {
    fc.assert(
      fc.property(fc.string(), (path) => {
        expect(cleanPath(cleanPath(path))).toBe(cleanPath(path))
      }),
    )
  })
})
