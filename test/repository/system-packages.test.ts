import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const TOOL = new URL('../../tools/system-packages.mjs', import.meta.url).href
const { PACKAGES }: { readonly PACKAGES: readonly { readonly command: string }[] } = await import(
  TOOL
)

/** A machine whose programs are the ones that a test writes, and no others. */
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'machine-'))
})

afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

describe.skipIf(process.platform === 'win32')('with CI=true, missing programs', () => {
  it('are skipped with a reason where there is no apt-get', () => {
    expect(provide({ isRoot: false, id: 'macos' })).toMatchObject({
      status: 0,
      said: expect.stringContaining(
        'the tests of TLS alerts need openssl (apt-get is not available)',
      ),
    })
  })

  it('are skipped with a reason for a user without rights', () => {
    program('apt-get')
    program('sudo', 'exit 1')
    expect(provide({ isRoot: false, id: 'debian' })).toMatchObject({
      status: 0,
      said: expect.stringContaining('(neither root nor sudo without a password)'),
      called: ['apt-get --version', 'sudo -n true'],
    })
  })

  it('are installed with sudo for a user who has it', () => {
    program('apt-get')
    program('sudo')
    const { called } = provide({ isRoot: false, id: 'debian' })
    expect(called).toContain('sudo -n env DEBIAN_FRONTEND=noninteractive apt-get update -q')
    expect(called).toContain(
      'sudo -n env DEBIAN_FRONTEND=noninteractive apt-get install -y openssl',
    )
  })

  it('are installed without sudo by root', () => {
    program('apt-get')
    program('env')
    const { called } = provide({ isRoot: true, id: 'debian' })
    expect(called).toContain('env DEBIAN_FRONTEND=noninteractive apt-get install -y openssl')
  })

  it('are a failure on Debian if they cannot be installed', () => {
    program('apt-get')
    program('sudo')
    program('apt-cache', 'exit 100')
    expect(provide({ isRoot: false, id: 'debian' })).toMatchObject({
      status: 1,
      said: expect.stringContaining('which apt-get install openssl did not install'),
    })
  })

  it('are skipped with a reason on a distribution that does not have their packages', () => {
    program('apt-get')
    program('sudo')
    program('apt-cache', 'exit 100')
    const { status, said, called } = provide({ isRoot: false, id: 'ubuntu' })
    expect(said).toContain('need kubectl (this distribution has no package kubernetes-client)')
    expect(said).toContain('the tests with an old kubectl cannot run: apt-get could not download')
    expect(called.filter((each) => each.includes('install'))).toEqual([])
    expect(status).toBe(0)
  })

  it('are a failure on another distribution too if it has their packages', () => {
    program('apt-get')
    program('sudo')
    program('apt-cache')
    expect(provide({ isRoot: false, id: 'ubuntu' })).toMatchObject({ status: 1 })
  })

  it('are a failure if it is not known which packages there are', () => {
    program('apt-get')
    // The list of packages cannot be downloaded.
    program('sudo', 'case "$*" in *update*) exit 100;; esac')
    program('apt-cache', 'exit 100')
    expect(provide({ isRoot: false, id: 'ubuntu' })).toMatchObject({ status: 1 })
  })
})

describe.skipIf(process.platform === 'win32')('with CI=true, an old kubectl', () => {
  it.each([
    ['is a failure', 'debian', 1],
    ['is skipped with a reason', 'ubuntu', 0],
  ])('that cannot be downloaded %s on %s', (_, id, status) => {
    for (const { command } of PACKAGES) program(command)
    program('apt-get')
    program('sudo')
    const provided = provide({ isRoot: false, id })
    expect(provided.said).toContain(
      'the tests with an old kubectl cannot run: apt-get could not download kubernetes-client',
    )
    expect(provided.said.startsWith('skipped: ')).toBe(status === 0)
    expect(provided.status).toBe(status)
    expect(provided.called).toContain('apt-get download kubernetes-client')
  })
})

/** Writes a program that notes its arguments; `then` is what it does after that. */
function program(name: string, then = ''): void {
  const path = join(folder, name)
  writeFileSync(path, `#!/bin/sh\necho "${name} $*" >> "${folder}/called"\n${then}\n`)
  chmodSync(path, 0o755)
}

function provide({ isRoot, id }: { readonly isRoot: boolean; readonly id: string }) {
  const osRelease = join(folder, 'os-release')
  const cache = join(folder, 'cache')
  writeFileSync(osRelease, `NAME="A machine"\nID=${id}\n`)
  const script = `
    import { provideSystemPackages } from ${JSON.stringify(TOOL)}
    provideSystemPackages(${JSON.stringify({ isRoot, osRelease, cache })})`
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', script],
    { encoding: 'utf8', env: { PATH: folder, CI: 'true' } },
  )
  const called = join(folder, 'called')
  const lines = existsSync(called) ? readFileSync(called, 'utf8').trimEnd().split('\n') : []
  return { status, said: stderr, called: lines }
}
