import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { type Profiler, Session } from 'node:inspector/promises'
import { fileURLToPath } from 'node:url'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { Vault } from 'kubecred/vault'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

// What ARCHITECTURE.md says about the tree and about the ways through it is true.

const root = new URL('../../../../', import.meta.url)
const page = readFileSync(new URL('ARCHITECTURE.md', root), 'utf8')
const SOURCES = 'packages/core/src/'

/** The text below a heading, up to the next one. */
function section(heading: string): string {
  const [, text = ''] = page.split(new RegExp(`^#{2,3} ${heading}.*$`, 'm'))
  return text.split(/^## |^### /m)[0] ?? ''
}

/** The files that a text names, from the root of the project. */
function filesIn(text: string): string[] {
  const names = [...text.matchAll(/`([\w/-]+\.ts)`/g)].map(([, name = '']) => name)
  return names.map((name) => (name.startsWith('packages/') ? name : `${SOURCES}${name}`))
}

describe('ARCHITECTURE.md', () => {
  it('names files that exist', () => {
    const named = filesIn(page)
    expect(named.length).toBeGreaterThan(50)
    expect(named.filter((file) => !existsSync(new URL(file, root)))).toEqual([])
  })

  it('has a row for every folder of the library, and for no other', () => {
    const rows = [...section('Folders of the library').matchAll(/^\| `([\w/]+)`/gm)]
    const folders = readdirSync(new URL(SOURCES, root), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
    expect(rows.map(([, name]) => name).sort()).toEqual(
      [...folders, 'plugin/kit', 'signer/kit'].sort(),
    )
  })

  it('has them in the order of tools/check-layers.mjs', () => {
    const order = readFileSync(new URL('tools/check-layers.mjs', root), 'utf8')
    const list = order.slice(order.indexOf('const ORDER'), order.indexOf('/** Modules of others'))
    const lines = list.split('\n').filter((line) => line.startsWith('  ['))
    const lineOf = (folder: string): number =>
      lines.findIndex((line) => line.includes(`'${folder}'`))
    const rows = [...section('Folders of the library').matchAll(/^\| `([\w/]+)`/gm)]
    const found = rows.map(([, folder = '']) => lineOf(folder))
    expect(found).not.toContain(-1)
    expect(found).toEqual([...found].sort((a, b) => a - b))
  })

  it('has at most twenty words in its glossary', () => {
    const rows = section('Glossary')
      .split('\n')
      .filter((line) => line.startsWith('| '))
    expect(rows.length - 2).toBeLessThanOrEqual(20)
  })
})

describe('the walks of ARCHITECTURE.md', () => {
  let sandbox: Sandbox
  let session: Session
  beforeAll(async () => {
    sandbox = await startSandbox()
    session = new Session()
    session.connect()
    await session.post('Profiler.enable')
  })
  afterAll(async () => {
    session.disconnect()
    await sandbox.close()
  })

  /** The source files of the library in which a function ran at least `times` times. */
  async function filesUsedBy(work: () => Promise<void>, times = 1): Promise<string[]> {
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    await session.post('Profiler.takePreciseCoverage')
    await work()
    const { result } = await session.post('Profiler.takePreciseCoverage')
    await session.post('Profiler.stopPreciseCoverage')
    return result.filter((script) => ran(script, times)).map(({ url }) => pathOf(url))
  }

  const ran = ({ url, functions }: Profiler.ScriptCoverage, times: number): boolean =>
    url.includes(`/${SOURCES}`) && functions.some(({ ranges }) => (ranges[0]?.count ?? 0) >= times)
  const pathOf = (url: string): string => {
    const path = fileURLToPath(url.replace(/\?.*$/, ''))
    return path.slice(path.indexOf(SOURCES))
  }

  it('of a warm request has every file that it uses, and no other', async () => {
    const { token } = sandbox.issueToken({ user: 'jane' })
    await using cluster = await connect({
      kubeconfig: sandbox.writeKubeconfig({ user: { token } }),
    })
    const request = async (): Promise<unknown> => (await cluster.fetch('/version')).json()
    await request()
    const COUNT = 50
    const used = await filesUsedBy(async () => {
      for (let count = 0; count < COUNT; count += 1) await request()
    }, COUNT)
    expect(used.sort()).toEqual([...new Set(filesIn(section('A warm request')))].sort())
  })

  it('of a plugin run has only files that it uses', async () => {
    const exec = await sandbox.plugin({ user: 'jane' })
    const used = await filesUsedBy(async () => {
      const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
      await using cluster = await connect({ kubeconfig })
      expect((await cluster.fetch('/version')).status).toBe(200)
    })
    expect(filesIn(section('A plugin run')).filter((file) => !used.includes(file))).toEqual([])
  })

  it('of a vault login has only files that it uses', async () => {
    const used = await filesUsedBy(async () => {
      const { token } = sandbox.issueToken({ user: 'jane' })
      const vault = new Vault().onLogin(
        () => ({ server: sandbox.url, caData: sandbox.caPem, token }),
        { id: 'corp' },
      )
      await using cluster = await connect({ vault })
      sandbox.revoke('jane')
      await cluster.fetch('/version', { signal: AbortSignal.timeout(1000) }).catch(() => {})
    })
    expect(filesIn(section('A vault login')).filter((file) => !used.includes(file))).toEqual([])
  })
})
