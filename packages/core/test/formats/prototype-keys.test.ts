import { describe, expect, it } from 'vitest'
import { parseJson } from '../../src/formats/json.ts'
import { parseYaml } from '../../src/formats/yaml.ts'
import { parseKubeconfigText } from '../../src/kubeconfig/parse-kubeconfig.ts'
import { decodeExecCredential } from '../../src/plugin/exec-credential.ts'
import { parseKuberc } from '../../src/plugin/kuberc.ts'
import { readSignerMessage, SIGNER_API_VERSION } from '../../src/signer/signer-protocol.ts'

// A field that is not in a document must not come from a `__proto__` in it. Every reader is asked for such a field.

const V1 = 'client.authentication.k8s.io/v1'

/** The same document as JSON, as JSON with a long integer, as YAML in lines and as YAML with a merge key. */
const forms = (first: string, hidden: string): readonly string[] => [
  `{${first}, "__proto__": ${hidden}}`,
  `{${first}, "__proto__": ${hidden}, "n": 12345678901234567890}`,
  `${first.replaceAll('"', '').replaceAll(', ', '\n')}\n__proto__: ${hidden}\n`,
  `${first.replaceAll('"', '').replaceAll(', ', '\n')}\n<<: {"__proto__": ${hidden}}\n`,
]

describe('a field is not read from __proto__', () => {
  it.each(forms('"a": 1', '{"polluted": true}'))('in %j', (text) => {
    const data = parseYaml(text) as Record<string, unknown>
    expect(data['polluted']).toBeUndefined()
    expect(Object.getPrototypeOf(data)).toBe(Object.prototype)
    expect(Object.hasOwn(data, '__proto__')).toBe(true)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it('in JSON with integers of any length', () => {
    const data = parseJson('{"__proto__": {"a": 1}, "n": 12345678901234567890}')
    expect((data as { a?: unknown }).a).toBeUndefined()
  })

  it.each(forms(`"kind": "ExecCredential", "apiVersion": "${V1}"`, '{"status": {"token": "t"}}'))(
    'in the answer of a plugin: %j',
    (text) => {
      const decode = () => decodeExecCredential(Buffer.from(text), { apiVersion: V1, command: 'p' })
      expect(decode).toThrow("didn't return a status field")
    },
  )

  it.each(
    forms(
      '"kind": "Preference", "apiVersion": "kubectl.config.k8s.io/v1beta1", "credentialPluginPolicy": "DenyAll"',
      '{"credentialPluginPolicy": "AllowAll", "credentialPluginAllowlist": [{"name": "evil"}]}',
    ),
  )('in a plugin policy: %j', (text) => {
    expect(parseKuberc(text, '/kuberc')).toMatchObject({ type: 'DenyAll' })
  })

  it('in the answer of a signer', () => {
    const head = `"apiVersion": "${SIGNER_API_VERSION}", "kind": "SignResponse"`
    const sent = parseJson(`{${head}, "__proto__": {"signature": "AAEC"}}`)
    const expected = { payload: 'signature', protocol: 'specification', signer: 's' } as const
    expect(() => readSignerMessage(sent as Record<string, unknown>, expected)).toThrow(
      'with an empty signature',
    )
  })

  it.each(forms('"kind": "Config"', '{"current-context": "evil", "users": [{"name": "evil"}]}'))(
    'in a kubeconfig: %j',
    (text) => {
      const { currentContext, users } = parseKubeconfigText(text, '/k')
      expect(currentContext).toBeUndefined()
      expect(users.size).toBe(0)
    },
  )
})
