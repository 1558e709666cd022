import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LibraryFolder } from './library-folder.ts'

let packed: LibraryFolder

beforeAll(async () => {
  packed = await LibraryFolder.make()
})
afterAll(() => packed[Symbol.dispose]())

describe('the tarball of the library', () => {
  it('has every file of the manifest', () => {
    const files = Object.values(packed.manifest.exports).flatMap((target) =>
      typeof target === 'string' ? [target] : Object.values(target),
    )
    const missing = files.filter((file) => !existsSync(join(packed.package, file)))
    expect(missing).toEqual([])
  })

  it('has code, types and the manifest, and nothing else', () => {
    const files = readdirSync(packed.package, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
    const expected = /\.js$|\.d\.ts$|^package\.json$|^README\.md$|^LICENSE$/
    expect(files.filter((name) => !expected.test(name))).toEqual([])
  })

  it('can be imported by every subpath with only its own dependencies', async () => {
    const { code, output } = await packed.node(`
      const loaded = {}
      for (const name of ${JSON.stringify(packed.subpaths)}) loaded[name] = Object.keys(await import(name)).length
      const { createRequire } = await import('node:module')
      loaded.version = createRequire(process.cwd() + '/').call(null, 'kubecred/package.json').version
      process.stdout.write(JSON.stringify(loaded))
    `)
    expect(code, output).toBe(0)
    const loaded = JSON.parse(output) as Record<string, unknown>
    expect(Object.keys(loaded)).toEqual([...packed.subpaths, 'version'])
    expect(Object.values(loaded)).not.toContain(0)
  })

  it('has what kubecred/register loads, in both threads', async () => {
    const { code, output } = await packed.register("console.log('started')")
    expect(output).toMatch(/^kubecred: no cluster is configured /)
    expect(code).toBe(14)
  })

  it('names the missing package when a feature needs one', async () => {
    const { code, output } = await packed.node(`
      import { connect } from 'kubecred'
      import { openWebSocket } from 'kubecred/ws'
      const cluster = await connect({ server: 'http://127.0.0.1:1' })
      const { code, peer, message, hint } = await openWebSocket(cluster, '/').catch((error) => error)
      process.stdout.write(JSON.stringify({ code, peer, message, hint }))
      await cluster.close()
    `)
    expect(code, output).toBe(0)
    expect(JSON.parse(output)).toEqual({
      code: 'ERR_PEER_MISSING',
      peer: 'ws',
      message: 'kubecred/ws needs the package ws, which is not installed',
      hint: 'Run "npm install ws".',
    })
  })

  it('needs prom-client for metrics only when they are created', async () => {
    const source = `
      import { createMetrics } from 'kubecred/metrics'
      const shown = await createMetrics().then(
        ({ register }) => register.metrics(),
        ({ code, hint }) => [code, hint].join(': '),
      )
      process.stdout.write(shown)
    `
    expect(await packed.node(source)).toEqual({
      code: 0,
      output: 'ERR_PEER_MISSING: Run "npm install prom-client".',
    })
    packed.link('prom-client')
    const { code, output } = await packed.node(source)
    packed.unlink('prom-client')
    expect(code, output).toBe(0)
    expect(output).toContain('\nkubecred_retried_total 0\n')
  })

  it('has types that need no packages other than dependencies', async () => {
    // Every TypeScript program for Node has these; the second is a dependency of the first.
    packed.link('@types/node')
    packed.link('undici-types')
    const imports = packed.subpaths.map((name, at) => `import * as all${at} from '${name}'`)
    const used = packed.subpaths.map((_, at) => `all${at}`)
    packed.write('program.ts', `${imports.join('\n')}\nexport const all = [${used.join(', ')}]\n`)
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2023',
      lib: ['es2023'],
      types: ['node'],
      strict: true,
      noEmit: true,
      skipLibCheck: false,
    }
    packed.write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['program.ts'] }))
    expect(await packed.tsc()).toEqual({ code: 0, output: '' })
  })
})
