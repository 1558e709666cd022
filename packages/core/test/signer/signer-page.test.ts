import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { decodeBase64Bytes } from '../../src/formats/base64.ts'
import { parseYaml } from '../../src/formats/yaml.ts'
import { Secret } from '../../src/secret/secret.ts'
import { encodeSignRequest, readSignerMessage } from '../../src/signer/signer-protocol.ts'
import { connectionWith } from '../kubeconfig/build-test-connection.ts'

const page = readFileSync(new URL('../../../../docs/signer.md', import.meta.url), 'utf8')

function blocks(language: string): string[] {
  const found = page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))
  return [...found].map(([, text = '']) => text)
}

describe('docs/signer.md', () => {
  const [request, response] = blocks('json').map((text) => JSON.parse(text))

  it('has a valid stanza', () => {
    const [stanza = ''] = blocks('yaml')
    const { users } = parseYaml(stanza) as { users: { user: object }[] }
    const { externalSigner } = connectionWith({ user: users[0]?.user ?? {} }).user
    expect(externalSigner?.at).toEqual({ kind: 'program', command: '/usr/bin/my-signer' })
    expect(externalSigner?.parameters.size).toBe(5)
  })

  it('shows the request as it is encoded', () => {
    const { configuration, digest } = request as {
      configuration: Record<string, string>
      digest: string
    }
    const parameters = new Map(
      Object.entries(configuration).map(([name, value]) => [name, new Secret(value)]),
    )
    const bytes = decodeBase64Bytes(digest) ?? new Uint8Array()
    const text = encodeSignRequest(
      { protocol: 'specification', parameters },
      { scheme: 'rsa_pss_rsae_sha256', digest: bytes, message: bytes },
    )
    expect(text).toBe(JSON.stringify(request))
  })

  it('shows a valid answer, and valid lines before it', () => {
    const expected = { payload: 'signature', protocol: 'specification', signer: '"s"' } as const
    expect(readSignerMessage(response, expected)).toMatchObject({ is: 'answer' })
    const lines = [...page.matchAll(/`(\{"apiVersion":…[^`]*\})`/g)].map(([, text = '']) =>
      readSignerMessage(
        { ...JSON.parse(text.replace('…', '""')), apiVersion: response.apiVersion },
        expected,
      ),
    )
    expect(lines).toEqual([
      { is: 'prompt', text: 'Touch the device' },
      { is: 'failure', text: 'the device is locked' },
    ])
  })
})
