import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as kubecred from '../packages/core/src/index.ts'
import { decodeExecCredential } from '../packages/core/src/plugin/exec-credential.ts'
import { type ExecInfo, encodeExecInfo } from '../packages/core/src/plugin/exec-info.ts'
import * as sandbox from '../packages/sandbox/src/index.ts'

const page = readFileSync(new URL('../docs/exec-plugins.md', import.meta.url), 'utf8')

function blocks(language: string): string[] {
  const found = page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))
  return [...found].map(([, text = '']) => text)
}

describe('docs/exec-plugins.md', () => {
  const examples = blocks('json').map((text) => JSON.parse(text))

  it('shows the exec info of each version as it is written', () => {
    const inputs = examples.filter(({ spec }) => spec !== undefined)
    expect(inputs.map(({ apiVersion }) => apiVersion.replace(/.*\//, ''))).toEqual([
      'v1',
      'v1beta1',
      'v1alpha1',
    ])
    for (const shown of inputs) expect(JSON.parse(encodeExecInfo(infoOf(shown)))).toEqual(shown)
  })

  it('shows output that is accepted', () => {
    const answers = examples.filter(({ status }) => status !== undefined)
    expect(answers).toHaveLength(1)
    for (const shown of answers) {
      const { token, expiresAt } = decodeExecCredential(
        new TextEncoder().encode(JSON.stringify(shown)),
        { apiVersion: shown.apiVersion, command: 'p' },
      )
      expect([token?.expose(), expiresAt]).toEqual(['k8s-token', Date.UTC(2030, 0, 31, 12)])
    }
  })

  it('has a plugin and a test for it that work', async () => {
    const [plugin = ''] = blocks('js plugin')
    const [program = ''] = blocks('js test')
    const folder = mkdtempSync(join(tmpdir(), 'kubecred-page-'))
    const path = join(folder, 'my-plugin.mjs')
    writeFileSync(path, plugin)
    const printed: unknown[][] = []
    try {
      await runProgram(program.replace("'my-plugin.mjs'", JSON.stringify(path)), (...values) =>
        printed.push(values),
      )
    } finally {
      rmSync(folder, { recursive: true })
    }
    expect(printed).toMatchObject([[200, { state: 'ready', runs: 1 }]])
  })
})

interface Shown {
  readonly apiVersion: ExecInfo['apiVersion']
  readonly spec: {
    readonly interactive: boolean
    readonly response?: {
      readonly code: number
      readonly header: Readonly<Record<string, string[]>>
    }
    readonly cluster?: Readonly<Record<string, string>> & { readonly server: string }
  }
}

/** The arguments of `encodeExecInfo` for an example. */
function infoOf({ apiVersion, spec: { interactive, response, cluster } }: Shown): ExecInfo {
  return {
    apiVersion,
    interactive,
    refusal: response && { status: response.code, headers: lowerCased(response.header) },
    cluster: cluster && {
      server: cluster.server,
      tlsServerName: cluster['tls-server-name'],
      certificateAuthorityData: cluster['certificate-authority-data'],
      config: cluster['config'],
    },
  }
}

function lowerCased(header: Readonly<Record<string, string[]>>): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(header).map(([name, values]) => [name.toLowerCase(), values]),
  )
}

/** Runs a module of the page with the sources instead of the installed packages. */
async function runProgram(source: string, log: (...values: unknown[]) => void): Promise<void> {
  const modules = { kubecred, '@kubecred/sandbox': sandbox }
  const body = source.replace(/^import (\{.*\}) from ('.*')$/gm, 'const $1 = modules[$2]')
  const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor
  await new AsyncFunction('modules', 'console', body)(modules, { log })
}
