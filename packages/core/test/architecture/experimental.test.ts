import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

// What docs/stability.md calls experimental is marked so where a user of the types sees it.

const root = new URL('../../../../', import.meta.url)
const SOURCES = new URL('packages/core/src/', root)
const tool: {
  listSubpaths(): readonly { readonly name: string; readonly exports: readonly string[] }[]
} = await import(new URL('tools/exported-names.mjs', root).href)

/** The text of every source file of the library. */
const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => readFileSync(new URL(path.replaceAll('\\', '/'), SOURCES), 'utf8'))

/** Returns the doc comments of the exported declarations with this name. */
function commentsOf(name: string): string[] {
  const declaration = new RegExp(
    `(/\\*\\*(?:(?!\\*/)[\\s\\S])*\\*/)\\nexport (?:abstract )?(?:async )?(?:class|const|function|interface|type) ${name}\\b`,
  )
  return sources.flatMap((source) => declaration.exec(source)?.[1] ?? [])
}

function exportsOf(subpath: string): readonly string[] {
  return tool.listSubpaths().find(({ name }) => name === subpath)?.exports ?? []
}

/** What the plugin kit has too, which is stable. */
const STABLE = ['Prompt', 'PromptOptions']

const SIGNER_EXPORTS = exportsOf('kubecred/signer').filter((name) => !STABLE.includes(name))
const SIGNING_EXPORTS = exportsOf('kubecred/vault').filter((name) => /^Sign/.test(name))
const SIGNER_ERRORS = exportsOf('kubecred/errors').filter((name) => /^Sign|Signed/.test(name))
const FAKES = exportsOf('kubecred/testing').filter((name) => /^Fake/.test(name))

describe('@experimental', () => {
  it.each([...new Set([...SIGNER_EXPORTS, ...SIGNING_EXPORTS, ...SIGNER_ERRORS, ...FAKES])])(
    'is in the doc comment of %s',
    (name) => {
      const comments = commentsOf(name)
      expect(comments).toHaveLength(1)
      expect(comments[0]).toContain('@experimental')
    },
  )

  it('was looked for in every part that docs/stability.md names', () => {
    expect(SIGNER_EXPORTS).toContain('runSigner')
    expect(SIGNING_EXPORTS).toContain('SigningKey')
    expect(SIGNER_ERRORS).toContain('HandshakeNotSignedError')
    expect(FAKES).toContain('FakeClock')
  })

  it.each(['signer', 'signer-author', 'pkcs11', 'proposal-signer'])(
    'is explained on docs/%s.md, with a link to what that means',
    (page) => {
      const text = readFileSync(new URL(`docs/${page}.md`, root), 'utf8')
      expect(text).toMatch(/\*\*Experimental/)
      expect(text).toContain('(stability.md#experimental)')
    },
  )
})
