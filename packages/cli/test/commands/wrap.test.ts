import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runFake } from '../run-fake.ts'

const KUBECONFIG = `# my clusters
apiVersion: v1
kind: Config
current-context: dev
clusters:
- {name: k, cluster: {server: "https://127.0.0.1:1"}}
contexts:
- {name: dev, context: {cluster: k, user: dev}}
- {name: prod, context: {cluster: k, user: prod}}
- {name: plain, context: {cluster: k, user: plain}}
users:
- name: plain
  user: {token: abc}
- name: dev # the one I use
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: aws # v2
      args: # as aws eks update-kubeconfig wrote them
      - eks
      - get-token
      - --client-secret
      - marked-secret
      env:
      - {name: AWS_PROFILE, value: marked-value}
      installHint: "Install it."
      interactiveMode: IfAvailable
      provideClusterInfo: true
      futureField: {a: 1}
- name: prod
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: ./bin/plug, interactiveMode: Never}
`

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubecred-wrap-'))
  file = join(folder, 'config')
  writeFileSync(file, KUBECONFIG, { mode: 0o640 })
  const program = join(folder, 'kubecred-token')
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
  chmodSync(program, 0o755)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const wrap = (...args: string[]) =>
  runFake(['wrap', '--kubeconfig', file, ...args], { env: { PATH: folder } })
const read = (): string => readFileSync(file, 'utf8')
const backup = (): string => `${file}.kubecred-backup`

describe('kubecred wrap', () => {
  it('changes command and args, and nothing else', async () => {
    const { status, err } = await wrap('--yes')
    expect(status).toBe(0)
    expect(read()).toBe(
      KUBECONFIG.replace('command: aws #', 'command: "kubecred-token" #').replace(
        '      - eks\n',
        '      - "--"\n      - "aws"\n      - eks\n',
      ),
    )
    expect(statSync(file).mode & 0o777).toBe(0o640)
    expect(readFileSync(backup(), 'utf8')).toBe(KUBECONFIG)
    expect(statSync(backup()).mode & 0o777).toBe(0o600)
    expect(err).toContain('- aws eks get-token --client-secret …')
    expect(err).toContain('+ kubecred-token -- aws eks get-token --client-secret …')
    expect(err).not.toContain('marked-')
  })

  it('is undone byte for byte, and leaves no backup', async () => {
    await wrap('--yes')
    const { status, err } = await wrap('--undo', '--yes')
    expect(status).toBe(0)
    expect(read()).toBe(KUBECONFIG)
    expect(existsSync(backup())).toBe(false)
    expect(err).not.toContain('marked-')
  })

  it('is undone without losing other changes', async () => {
    await wrap('--yes')
    writeFileSync(file, `${read()}# a later thought\n`)
    await wrap('--undo', '--yes')
    expect(read()).toBe(
      `${KUBECONFIG.replace('command: aws #', 'command: "aws" #')}# a later thought\n`,
    )
  })

  it('accepts flags, and makes a relative plugin path absolute', async () => {
    await wrap('prod', '--ttl', '10m', '--depends-on', '/etc/account', '--yes')
    const plugin = join(folder, 'bin', 'plug')
    expect(read()).toContain(
      `"args": ["--ttl=10m", "--depends-on=/etc/account", "--", "${plugin}"],`,
    )
    expect((await wrap('prod', '--undo', '--yes')).status).toBe(0)
    expect(read()).toBe(KUBECONFIG)
  })

  it('keeps the first backup while another user is wrapped', async () => {
    await wrap('--yes')
    await wrap('prod', '--yes')
    expect(readFileSync(backup(), 'utf8')).toBe(KUBECONFIG)
    await wrap('--undo', '--yes')
    expect(existsSync(backup())).toBe(true)
    await wrap('prod', '--undo', '--yes')
    expect(existsSync(backup())).toBe(false)
  })

  it('follows a symbolic link, and keeps it', async () => {
    const link = join(folder, 'link')
    symlinkSync(file, link)
    await runFake(['wrap', '--kubeconfig', link, '--yes'], { env: { PATH: folder } })
    expect(read()).toContain('kubecred-token')
    expect(readFileSync(link, 'utf8')).toBe(read())
    expect(existsSync(backup())).toBe(true)
  })

  it('writes the full path if the name is not in PATH', async () => {
    await runFake(['wrap', '--kubeconfig', file, '--yes'], { env: { PATH: '/nowhere' } })
    expect(read()).toMatch(/command: "\/.*\/bin\/kubecred-token\.cjs"/)
    expect((await wrap('--undo', '--yes')).status).toBe(0)
    expect(read()).toBe(KUBECONFIG)
  })

  it.each([
    [[], 2, 'use --yes'],
    [['plain', '--yes'], 19, 'has no credential plugin'],
    [['none', '--yes'], 15, 'context "none" does not exist'],
    [['--undo', '--yes'], 19, 'does not use kubecred-token'],
    [['--undo', '--ttl', '1m'], 2, '--undo cannot be combined with --ttl'],
    [['--ttl', 'soon'], 2, 'takes a time'],
  ])('%j exits with %i and changes nothing', async (args, status, words) => {
    const ended = await wrap(...args)
    expect(ended.err).toContain(words)
    expect(ended.status).toBe(status)
    expect(read()).toBe(KUBECONFIG)
    expect(existsSync(backup())).toBe(false)
  })

  it('does not wrap twice', async () => {
    await wrap('--yes')
    const once = read()
    expect((await wrap('--yes')).err).toContain('already uses kubecred-token')
    expect(read()).toBe(once)
  })

  it('rejects a stanza that it cannot edit in isolation, and leaves no lock', async () => {
    const text = KUBECONFIG.replace('    exec:\n', '    exec: &shared\n').replace(
      'exec: {apiVersion: client.authentication.k8s.io/v1, command: ./bin/plug, interactiveMode: Never}',
      'exec: *shared',
    )
    writeFileSync(file, text)
    const { status, err } = await wrap('prod', '--yes')
    expect(status).not.toBe(0)
    expect(err).not.toContain('marked-')
    expect(read()).toBe(text)
    expect(existsSync(`${file}.lock`)).toBe(false)
  })
})
