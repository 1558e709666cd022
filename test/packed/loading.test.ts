import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LibraryFolder } from './library-folder.ts'

/** Limited, because finding and opening a file takes longer than compiling it. */
const MAX_FILES = 40
/** The file that begins a handshake with an external key. */
const SPLICE = /\bfunction connectSigned\b/

let packed: LibraryFolder

beforeAll(async () => {
  packed = await LibraryFolder.make()
})
afterAll(() => packed[Symbol.dispose]())

describe("import 'kubecred'", () => {
  let loaded: string[]
  beforeAll(async () => {
    loaded = await filesLoadedBy('kubecred')
  })

  it(`loads at most ${MAX_FILES} files`, () => {
    expect(loaded.length).toBeGreaterThan(0)
    expect(loaded.length).toBeLessThanOrEqual(MAX_FILES)
  })

  it('loads other packages only on use', () => {
    const packages = loaded.flatMap((file) => /.*node_modules\/([^/]+)/.exec(file)?.[1] ?? [])
    expect(new Set(packages)).toEqual(new Set(['kubecred']))
  })

  it('loads the handshake with an external key only on use', () => {
    const hasSplice = (file: string): boolean => SPLICE.test(readFileSync(file, 'utf8'))
    const files = readdirSync(packed.package, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.js'))
      .map((name) => join(packed.package, name))
    expect(files.filter(hasSplice)).toHaveLength(1)
    expect(loaded.filter(hasSplice)).toEqual([])
  })
})

describe('errors', () => {
  it('are the same classes by every subpath', async () => {
    const { code, output } = await packed.node(`
      import * as errors from 'kubecred/errors'
      const seen = []
      for (const name of ${JSON.stringify(packed.subpaths)}) {
        for (const [key, value] of Object.entries(await import(name))) {
          if (!Object.hasOwn(errors, key) || name === 'kubecred/errors') continue
          if (value !== errors[key]) throw new Error(key + ' of ' + name + ' is another one')
          seen.push(name)
        }
      }
      process.stdout.write(JSON.stringify([...new Set(seen)]))
    `)
    expect(code, output).toBe(0)
    expect(JSON.parse(output)).toEqual(['kubecred'])
  })

  it('of one subpath are recognised by another', async () => {
    const { code, output } = await packed.node(`
      import { connect } from 'kubecred'
      import { PermanentError, Vault } from 'kubecred/vault'
      import { CredentialError } from 'kubecred/errors'
      const missing = await connect({ kubeconfig: 'missing' }).catch((error) => error)
      const vault = new Vault()
      vault.onLogin(() => { throw new PermanentError('no') })
      const failed = await connect({ vault }).catch((error) => error)
      for (const error of [missing, failed]) {
        process.stdout.write([error instanceof CredentialError, error.code].join(' ') + '\\n')
      }
    `)
    const known = 'true ERR_KUBECONFIG_NOT_FOUND\ntrue ERR_LOGIN_FAILED\n'
    expect({ code, output }).toEqual({ code: 0, output: known })
  })
})

/** Returns the paths of the files that Node compiles for an import, of all packages. */
async function filesLoadedBy(name: string): Promise<string[]> {
  const { code, output } = await packed.node(`
    import { Session } from 'node:inspector'
    const files = []
    const session = new Session()
    session.connect()
    session.on('Debugger.scriptParsed', ({ params }) => files.push(params.url))
    session.post('Debugger.enable')
    await import(${JSON.stringify(name)})
    process.stdout.write(JSON.stringify(files))
  `)
  expect(code, output).toBe(0)
  return (JSON.parse(output) as string[])
    .filter((url) => /^file:.*\.[cm]?js$/.test(url))
    .map((url) => fileURLToPath(url))
}
