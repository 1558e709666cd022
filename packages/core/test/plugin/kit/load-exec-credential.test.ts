import { afterEach, describe, expect, it, vi } from 'vitest'
import { API_VERSIONS } from '../../../src/kubeconfig/exec-config.ts'
import { parseKubeconfigText } from '../../../src/kubeconfig/parse-kubeconfig.ts'
import { encodeExecInfo } from '../../../src/plugin/exec-info.ts'
import { readExecInfo } from '../../../src/plugin/kit/index.ts'

const [V1, BETA] = API_VERSIONS
const base64 = (text: string): string => Buffer.from(text).toString('base64')

const failure = async (text: string | undefined): Promise<{ field: string; message: string }> =>
  readExecInfo(text).then(
    () => expect.unreachable(),
    (error) => ({ field: error.field, message: error.message, code: error.code, hint: error.hint }),
  )

// The names are upstream's: tools/auth/exec/exec_test.go.
describe('TestLoadExecCredential', () => {
  const cluster = {
    server: 'https://some-server/some/path',
    'tls-server-name': 'some-server-name',
    'insecure-skip-tls-verify': true,
    'certificate-authority-data': base64('some-ca'),
    'proxy-url': 'https://some-proxy-url:12345',
    'disable-compression': true,
    config: { apiVersion: 'group/v1', kind: 'PluginConfig', spec: { audience: 'a' } },
  }
  const textOf = (apiVersion: string, spec: object): string =>
    JSON.stringify({ kind: 'ExecCredential', apiVersion, spec })

  describe.each([
    ['v1', V1],
    ['v1beta1', BETA],
  ])('%s', (_, apiVersion) => {
    it('happy path', async () => {
      const info = await readExecInfo(textOf(apiVersion, { interactive: true, cluster }))
      const { proxyUrl, ...rest } = info.cluster ?? {}
      expect(proxyUrl?.expose()).toBe('https://some-proxy-url:12345')
      expect({ ...info, cluster: rest }).toEqual({
        apiVersion,
        interactive: true,
        cluster: {
          server: 'https://some-server/some/path',
          tlsServerName: 'some-server-name',
          insecureSkipTlsVerify: true,
          certificateAuthorityData: 'some-ca',
          disableCompression: true,
          config: cluster.config,
        },
      })
    })

    it.each([null, undefined])('nil config: %s', async (config) => {
      const info = await readExecInfo(textOf(apiVersion, { cluster: { ...cluster, config } }))
      expect(info.cluster).toBeDefined()
      expect(info.cluster?.config).toBeUndefined()
    })

    it.each(['invalid-proxy-url:12345', '://bad', 'nowhere'])(
      'invalid cluster: proxy-url %s',
      async (url) => {
        const text = textOf(apiVersion, { cluster: { ...cluster, 'proxy-url': url } })
        const error = await failure(text)
        expect(error).toMatchObject({ code: 'ERR_EXEC_INFO', field: 'spec.cluster.proxy-url' })
        expect(error.message).toContain('is not a URL')
        expect(error.message).not.toContain(url)
      },
    )

    // An error upstream. The KEP allows nil, and most plugins do not need the cluster.
    it.each([null, undefined])('nil cluster: %s', async (none) => {
      const info = await readExecInfo(textOf(apiVersion, { interactive: false, cluster: none }))
      expect(info).toEqual({ apiVersion, interactive: false })
    })
  })

  it('invalid object kind', async () => {
    const error = await failure('{"kind":"Status","apiVersion":"v1"}')
    expect(error).toMatchObject({ field: 'kind' })
    expect(error.message).toContain('"Status", not ExecCredential of client.authentication.k8s.io')
  })

  it('bad data', async () => {
    expect((await failure('bad data')).message).toContain('contains a string instead of an object')
    expect((await failure('{"kind":')).message).toContain('incomplete or broken JSON')
    expect((await failure('a: [')).message).toContain('neither JSON nor YAML')
  })
})

describe('TestLoadExecCredentialFromEnv', () => {
  afterEach(() => vi.unstubAllEnvs())

  it('reads the variable', async () => {
    vi.stubEnv('KUBERNETES_EXEC_INFO', `${encodeExecInfo({ apiVersion: V1, interactive: true })}\n`)
    expect(await readExecInfo()).toEqual({ apiVersion: V1, interactive: true })
  })

  it.each([undefined, '', ' \n'])('fails if the variable is unset or empty: %j', async (value) => {
    vi.stubEnv('KUBERNETES_EXEC_INFO', value)
    expect(await failure(undefined)).toMatchObject({
      code: 'ERR_EXEC_INFO',
      message: 'the variable KUBERNETES_EXEC_INFO is unset or empty',
      hint: expect.stringContaining('exec.command of a kubeconfig'),
    })
  })
})

// The names are upstream's: pkg/apis/clientauthentication/types_test.go. test-d/plugin.test-d.ts has the types.
describe('TestClientAuthenticationClusterTypesAreSynced', () => {
  const cluster = {
    server: 'https://k:6443',
    tlsServerName: 'name',
    insecureSkipTlsVerify: true,
    certificateAuthorityData: base64('ca'),
    proxyUrl: 'http://p:3128',
    disableCompression: true,
  }
  const fieldsIn = (apiVersion: (typeof API_VERSIONS)[number]): Record<string, unknown> => {
    const text = encodeExecInfo({ apiVersion, interactive: false, cluster })
    const { config: _, ...fields } = JSON.parse(text).spec.cluster ?? {}
    return fields
  }

  it('the fields have the names and the meaning they have in a kubeconfig', async () => {
    const fields = fieldsIn(V1)
    const clusters = [{ name: 'k', cluster: fields }]
    const entry = parseKubeconfigText(JSON.stringify({ clusters }), '/k').clusters.get('k')
    const info = await readExecInfo(encodeExecInfo({ apiVersion: V1, interactive: false, cluster }))
    const { name: _, file: __, extensions: ___, certificateAuthority: ____, ...same } = entry ?? {}
    expect(info.cluster).toEqual(same)
    expect(info.cluster?.proxyUrl?.expose()).toBe(entry?.proxyUrl?.expose())
  })

  it('TestAllClusterTypesAreSynced: they are the same in all versions that have them', () => {
    const names = API_VERSIONS.map((version) => Object.keys(fieldsIn(version)))
    expect(names).toEqual([names[0], names[0], []])
    expect(names[0]).toHaveLength(Object.keys(cluster).length)
  })
})
