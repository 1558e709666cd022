import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tarball } from './installed.ts'

const DOCKERFILE = fileURLToPath(new URL('../../deploy/Dockerfile', import.meta.url))
const isRoot = process.getuid?.() === 0
const hasBuildah = isRoot && spawnSync('buildah', ['--version']).status === 0
const NEEDS = 'needs root and buildah: apt-get install buildah'

it('the Dockerfile names its base by a digest, and fetches nothing else', () => {
  const lines = readFileSync(DOCKERFILE, 'utf8').split('\n')
  const steps = lines.filter((line) => /^[A-Z]/.test(line))
  expect(steps[0]).toMatch(/^ARG NODE_IMAGE=\S+@sha256:[0-9a-f]{64}$/)
  const froms = steps.filter((line) => line.startsWith('FROM'))
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the Dockerfile.
  expect(froms).toEqual(['FROM ${NODE_IMAGE}'])
  expect(steps.filter((line) => /^RUN|https?:/.test(line))).toEqual([])
})

describe.skipIf(!hasBuildah)(`the image (${NEEDS})`, () => {
  let folder: string
  let buildah: (...args: string[]) => string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'kubecred-image-'))
    const storage = ['--root', join(folder, 'root'), '--runroot', join(folder, 'run')]
    buildah = (...args) =>
      execFileSync('buildah', [...storage, '--storage-driver', 'vfs', ...args], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'inherit'],
      }).trim()
    const context = join(folder, 'context')
    mkdirSync(context)
    const packed = tarball('@kubecred/cli')
    copyFileSync(packed, join(context, basename(packed)))
    const image = ['-t', 'kubecred/proxy:test', '--build-arg', `NODE_IMAGE=${makeBase()}`]
    buildah('bud', '--isolation', 'chroot', '-f', DOCKERFILE, ...image, context)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** A base with only the Node of this machine: a registry may be out of reach. */
  function makeBase(): string {
    const root = join(folder, 'base')
    const node = process.execPath
    const needed = execFileSync('ldd', [node], { encoding: 'utf8' }).match(/\/\S+/g) ?? []
    for (const file of needed) copyInto(root, file, file)
    copyInto(root, node, '/usr/bin/node')
    mkdirSync(join(root, 'tmp'), { mode: 0o1777 })
    const container = buildah('from', 'scratch')
    buildah('copy', container, root, '/')
    buildah('config', '--env', 'PATH=/usr/bin', container)
    return buildah('commit', container, 'localhost/node:test').split('\n').at(-1) ?? ''
  }

  function copyInto(root: string, from: string, to: string): void {
    mkdirSync(dirname(join(root, to)), { recursive: true })
    cpSync(from, join(root, to), { dereference: true })
  }

  it('runs the program as an unprivileged user', () => {
    const container = buildah('from', 'kubecred/proxy:test')
    const run = (...args: string[]): string =>
      buildah('run', '--isolation', 'chroot', container, '--', ...args)
    const { version } = JSON.parse(
      execFileSync('tar', ['-xOzf', tarball('@kubecred/cli'), 'package/package.json'], {
        encoding: 'utf8',
      }),
    )
    const entry = '/opt/kubecred/package/bin/kubecred.cjs'
    expect(run('node', entry, 'version')).toContain(version)
    expect(run('node', '-p', 'process.getuid() + ":" + process.getgid()')).toBe('65532:65532')
  })

  it('has the settings that the manifests rely on', () => {
    const { OCIv1 } = JSON.parse(buildah('inspect', '--type', 'image', 'kubecred/proxy:test'))
    expect(OCIv1.config).toMatchObject({
      User: '65532:65532',
      Entrypoint: ['node', '/opt/kubecred/package/bin/kubecred.cjs'],
      Cmd: ['proxy', '--help'],
    })
    expect(OCIv1.config.Env).toContain('NODE_ENV=production')
  })
})
