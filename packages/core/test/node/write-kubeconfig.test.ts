import { spawn } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeTokens } from '../../src/node/write-kubeconfig.ts'
import { Secret } from '../../src/secret/secret.ts'
import { canMount, NEEDS_MOUNT, onFullDisk } from '../fixtures/full-disk.ts'
import { RunningProgram } from '../fixtures/running-program.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubecred-write-'))
  file = join(folder, 'config')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const user = (name: string, tokens: string): string => `- name:   ${name}   # who
  user:
    unknown-field: [ 1,2 ]
    auth-provider:
      name: oidc
      config:
        # tokens below
${tokens}
        idp-issuer-url: 'https://i.example'
        client-id: kube
`

const kubeconfig = (tokens: string): string => `# written by hand, do not reformat
kind: Config
users:
${user('ann', '        refresh-token: annes')}
${user('u', tokens)}
current-context: ""   # none
clusters: []
`

const OLD = '        id-token: old-id   # first\n        refresh-token: "old-refresh"'
const NEW = '        id-token: "new-id"   # first\n        refresh-token: "new-refresh"'

const tokens = (which: string) => ({
  idToken: new Secret(`${which}-id`),
  refreshToken: new Secret(`${which}-refresh`),
})

function write(which = 'new', { expected = 'old', maxWaitMs = 10_000 } = {}) {
  return writeTokens({ file, user: 'u' }, tokens(which), {
    expected: tokens(expected),
    maxWaitMs,
  })
}

const leftovers = (): string[] => readdirSync(folder).filter((name) => name !== 'config')

describe('new tokens', () => {
  it('are written, and every other byte is kept', async () => {
    writeFileSync(file, kubeconfig(OLD))
    expect(await write()).toBe('saved')
    expect(readFileSync(file, 'utf8')).toBe(kubeconfig(NEW))
    expect(leftovers()).toEqual([])
  })

  it('are added if the entry has none', async () => {
    writeFileSync(file, kubeconfig('        refresh-token: "old-refresh"'))
    await write()
    expect(readFileSync(file, 'utf8')).toBe(
      kubeconfig('        id-token: "new-id"\n        refresh-token: "new-refresh"'),
    )
  })

  it('do not overwrite those of another program', async () => {
    writeFileSync(file, kubeconfig(OLD))
    expect(await write('new', { expected: 'older' })).toBe('changed')
    expect(readFileSync(file, 'utf8')).toBe(kubeconfig(OLD))
    expect(leftovers()).toEqual([])
  })

  it.each([
    ['another provider', kubeconfig(OLD).replaceAll('oidc', 'gcp')],
    ['no such user', 'users: []\n'],
    ['an empty file', ''],
  ])('are not written into %s', async (_, text) => {
    writeFileSync(file, text)
    expect(await write()).toBe('changed')
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  it.each([
    ['is not UTF-8', Buffer.from([0xff, 0xfe, 0x61, 0])],
    ['is not YAML', Buffer.from('users: [')],
    [
      'uses an alias',
      Buffer.from(
        `x: &a {refresh-token: old-refresh}\nusers:\n- name: u\n  user: {auth-provider: {name: oidc, config: *a}}\n`,
      ),
    ],
  ])('are not written into a file that %s', async (_, bytes) => {
    writeFileSync(file, bytes)
    await expect(write()).rejects.toThrow(Error)
    expect(readFileSync(file)).toEqual(bytes)
    expect(leftovers()).toEqual([])
  })

  it('keep a byte order mark', async () => {
    writeFileSync(file, `\u{feff}${kubeconfig(OLD)}`)
    await write()
    expect(readFileSync(file, 'utf8')).toBe(`\u{feff}${kubeconfig(NEW)}`)
  })
})

describe('the file', () => {
  it.each([0o600, 0o640, 0o644, 0o400])('keeps its mode %o', async (mode) => {
    writeFileSync(file, kubeconfig(OLD), { mode })
    await write()
    expect(statSync(file).mode & 0o777).toBe(mode)
  })

  it('stays a symbolic link, whose target is replaced', async () => {
    const real = join(folder, 'real')
    writeFileSync(real, kubeconfig(OLD))
    symlinkSync('real', file)
    await write()
    expect(readlinkSync(file)).toBe('real')
    expect(readFileSync(real, 'utf8')).toBe(kubeconfig(NEW))
    expect(leftovers()).toEqual(['real'])
  })

  it('is written by one of many writers with the same token', async () => {
    writeFileSync(file, kubeconfig(OLD))
    const all = Array.from({ length: 10 }, (_, index) => write(`n${index}`))
    const outcomes = await Promise.all(all)
    expect(outcomes.filter((outcome) => outcome === 'saved').length).toBe(1)
    const winner = outcomes.indexOf('saved')
    expect(readFileSync(file, 'utf8')).toBe(kubeconfig(NEW.replaceAll('new', `n${winner}`)))
  })

  it('keeps the changes of writers for different users', async () => {
    writeFileSync(file, kubeconfig(OLD))
    const annes = { refreshToken: new Secret('annes') }
    const next = { refreshToken: new Secret('annes-next') }
    await Promise.all([write(), writeTokens({ file, user: 'ann' }, next, { expected: annes })])
    expect(readFileSync(file, 'utf8')).toBe(kubeconfig(NEW).replace('annes', '"annes-next"'))
  })
})

describe('the lock', () => {
  it('of kubectl is waited for, then named in an error', async () => {
    writeFileSync(file, kubeconfig(OLD))
    writeFileSync(`${file}.lock`, '')
    await expect(write('new', { maxWaitMs: 120 })).rejects.toThrow(
      `the lock file ${JSON.stringify(`${file}.lock`)} has existed`,
    )
    expect(readFileSync(file, 'utf8')).toBe(kubeconfig(OLD))
    expect(leftovers()).toEqual(['config.lock'])
  })

  it('that is removed in time does not prevent the write', async () => {
    writeFileSync(file, kubeconfig(OLD))
    writeFileSync(`${file}.lock`, '')
    const written = write()
    await new Promise((resolve) => setTimeout(resolve, 80))
    rmSync(`${file}.lock`)
    expect(await written).toBe('saved')
  })

  it('is taken for the link and for its target', async () => {
    const real = join(folder, 'real')
    writeFileSync(real, kubeconfig(OLD))
    symlinkSync('real', file)
    for (const lock of [`${file}.lock`, `${real}.lock`]) {
      writeFileSync(lock, '')
      await expect(write('new', { maxWaitMs: 1 })).rejects.toThrow('lock file')
      rmSync(lock)
    }
    expect(leftovers()).toEqual(['real'])
  })
})

it('a writer that is killed before the rename leaves the old file', async () => {
  writeFileSync(file, kubeconfig(OLD), { mode: 0o600 })
  const program = fileURLToPath(new URL('../fixtures/killed-writer.mjs', import.meta.url))
  const child = spawn(process.execPath, [program, file], { stdio: ['ignore', 'ignore', 'inherit'] })
  const signal = await new Promise((resolve) => child.once('exit', (_, name) => resolve(name)))
  expect(signal).toBe('SIGKILL')
  expect(readFileSync(file, 'utf8')).toBe(kubeconfig(OLD))
  const [temporary = ''] = leftovers().filter((name) => name.endsWith('.tmp'))
  expect(readFileSync(join(folder, temporary), 'utf8')).toBe(kubeconfig(NEW))
  expect(statSync(join(folder, temporary)).mode & 0o077).toBe(0)
  expect(existsSync(`${file}.lock`)).toBe(true)
})

describe('a writer that cannot write its content', () => {
  const program = fileURLToPath(new URL('../fixtures/failing-writer.mjs', import.meta.url))
  const line = [process.execPath, program]

  it.skipIf(process.platform === 'win32')('leaves the old file, and nothing else', async () => {
    writeFileSync(file, kubeconfig(OLD))
    const args = ['-c', 'ulimit -f 0; exec "$0" "$@"', ...line, file]
    const { out, err } = await new RunningProgram('sh', args).ended()
    expect({ out, err }).toEqual({ out: 'EFBIG', err: '' })
    expect(readFileSync(file, 'utf8')).toBe(kubeconfig(OLD))
    expect(leftovers()).toEqual([])
  })

  describe.skipIf(!canMount)(`because the disk is full (${NEEDS_MOUNT})`, () => {
    it('leaves the old file on a full disk, and nothing else', async () => {
      writeFileSync(file, kubeconfig(OLD))
      const full = onFullDisk(folder, [...line, file])
      const { out, err } = await new RunningProgram(...full).ended()
      expect({ out, err }).toEqual({ out: 'ENOSPC', err: '' })
      expect(readFileSync(file, 'utf8')).toBe(kubeconfig(OLD))
      expect(leftovers()).toEqual([])
    })
  })
})
