import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startSandbox } from '@kubecred/sandbox'
import { describe, expect, it } from 'vitest'
import { LibraryFolder } from './library-folder.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))

describe('the first example in the README of', () => {
  it('kubecred lists the namespaces of the cluster in ~/.kube/config', async () => {
    using library = await LibraryFolder.make()
    await using sandbox = await startSandbox()
    const { token } = sandbox.issueToken({ user: 'jane' })
    mkdirSync(join(library.folder, '.kube'))
    const kubeconfig = join(library.folder, '.kube/config')
    copyFileSync(sandbox.writeKubeconfig({ user: { token } }), kubeconfig)
    const source = firstExample(join(library.package, 'README.md'))
    expect(await library.node(source)).toEqual({
      code: 0,
      output: 'default\nkube-public\nkube-system\n',
    })
  })

  it('@kubecred/sandbox prints a command for kubectl', async () => {
    const source = firstExample(join(root, 'packages/sandbox/README.md'))
    const args = ['--input-type=module', '--eval', source]
    const { stdout } = await run(process.execPath, args, { cwd: root })
    expect(stdout).toMatch(/^kubectl --kubeconfig \S+ get namespaces\n$/)
  })
})

function firstExample(path: string): string {
  return /```js\n(.*?)```/s.exec(readFileSync(path, 'utf8'))?.[1] ?? ''
}
