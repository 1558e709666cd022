import { describe, expect, it } from 'vitest'
import { parseYaml } from '../../src/formats/yaml.ts'
import { connectionWith, FILE, thrownBy } from './build-test-connection.ts'

const provider = (name: string, config: object = {}) => ({ 'auth-provider': { name, config } })

/** The exec stanza in the hint, parsed as YAML. */
function stanzaIn(hint = ''): unknown {
  return parseYaml(hint.slice(hint.indexOf('\n') + 1))
}

const API = 'client.authentication.k8s.io/v1beta1'

describe('an auth-provider', () => {
  it.each([
    {
      name: 'gcp',
      config: { 'access-token': 'SECRET' },
      code: 'ERR_AUTH_PROVIDER_REMOVED',
      says: 'gke-gcloud-auth-plugin',
      exec: { command: 'gke-gcloud-auth-plugin', provideClusterInfo: true },
    },
    {
      name: 'azure',
      config: { 'apiserver-id': 'S', 'client-id': 'C', 'tenant-id': 'T', 'access-token': 'SECRET' },
      code: 'ERR_AUTH_PROVIDER_REMOVED',
      says: 'kubelogin',
      exec: {
        command: 'kubelogin',
        args: 'get-token --login azurecli --server-id S --client-id C --tenant-id T'.split(' '),
      },
    },
    {
      name: 'mystery',
      config: { 'id-token': 'SECRET' },
      code: 'ERR_NOT_SUPPORTED',
      says: 'is not supported',
      exec: { command: 'PLUGIN-NAME' },
    },
  ])('$name is rejected with a stanza to paste', ({ name, config, code, says, exec }) => {
    const error = thrownBy(() => connectionWith({ user: provider(name, config) }))
    expect(error.code).toBe(code)
    expect(error.message).toContain(`user "u" in "${FILE}" uses auth-provider "${name}"`)
    expect(error.message).toContain(says)
    expect(error.hint).not.toContain('SECRET')
    expect(stanzaIn(error.hint)).toEqual([
      {
        name: 'u',
        user: {
          exec: expect.objectContaining({
            apiVersion: API,
            interactiveMode: 'IfAvailable',
            installHint: expect.any(String),
            ...exec,
          }),
        },
      },
    ])
  })

  it.each([
    ['externalsigner', 'externalSigner'],
    ['ExternalSigner', 'externalSigner'],
    ['external-signer', 'externalSigner'],
    ['OIDC', 'oidc'],
  ])('%s is rejected with the name that was probably meant', (name, meant) => {
    const error = thrownBy(() => connectionWith({ user: provider(name) }))
    expect(error).toMatchObject({
      code: 'ERR_NOT_SUPPORTED',
      hint: expect.stringContaining(`name: ${meant};`),
    })
  })

  it('has a stanza in its hint that is valid when pasted', () => {
    const { hint = '' } = thrownBy(() => connectionWith({ user: provider('gcp') }))
    const [entry] = stanzaIn(hint) as [{ user: object }]
    expect(connectionWith({ user: entry.user }).user.exec?.command).toBe('gke-gcloud-auth-plugin')
  })

  it.each([{ token: 't' }, { username: 'ann' }, { tokenFile: 'f' }])(
    'is only a warning with %o, which replaces it',
    (method) => {
      const made = connectionWith({ user: { ...provider('gcp'), ...method } })
      expect(made.warnings).toEqual([expect.stringContaining('auth-provider of user "u"')])
    },
  )
})
