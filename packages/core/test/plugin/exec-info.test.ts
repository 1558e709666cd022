import { describe, expect, it } from 'vitest'
import type { Refusal } from '../../src/credential/credential.ts'
import { API_VERSIONS } from '../../src/kubeconfig/exec-config.ts'
import { decodeExecInfo, type ExecInfo, encodeExecInfo } from '../../src/plugin/exec-info.ts'

const [V1, BETA, ALPHA] = API_VERSIONS
const written = (info: ExecInfo): unknown => JSON.parse(encodeExecInfo(info))

describe.each([V1, BETA])('the exec info of a %s plugin', (apiVersion) => {
  it('has the kind, the version and whether the plugin may prompt', () => {
    expect(encodeExecInfo({ apiVersion, interactive: false })).toBe(
      `{"kind":"ExecCredential","apiVersion":"${apiVersion}","spec":{"interactive":false}}`,
    )
  })

  it('has the cluster with the field names of a kubeconfig, before interactive', () => {
    const text = encodeExecInfo({
      apiVersion,
      interactive: true,
      cluster: {
        server: 'https://k:6443/path',
        tlsServerName: 'name',
        insecureSkipTlsVerify: true,
        certificateAuthorityData: 'YmF6',
        proxyUrl: 'socks5://p:1080',
        disableCompression: true,
        config: { audience: 'foo' },
      },
    })
    const cluster =
      '{"server":"https://k:6443/path","tls-server-name":"name","insecure-skip-tls-verify":true,' +
      '"certificate-authority-data":"YmF6","proxy-url":"socks5://p:1080",' +
      '"disable-compression":true,"config":{"audience":"foo"}}'
    expect(text).toContain(`"spec":{"cluster":${cluster},"interactive":true}`)
  })

  it('leaves out unset fields except server and config', () => {
    const cluster = {
      server: '',
      tlsServerName: '',
      insecureSkipTlsVerify: false,
      config: undefined,
    }
    expect(written({ apiVersion, interactive: false, cluster })).toMatchObject({
      spec: { cluster: { server: '', config: null } },
    })
  })

  it('keeps every digit of the cluster extension', () => {
    const cluster = { server: 's', config: { id: 12_345_678_901_234_567_890n } }
    expect(encodeExecInfo({ apiVersion, interactive: false, cluster })).toContain(
      '"config":{"id":12345678901234567890}',
    )
  })

  it('does not contain the refusal of the last credential', () => {
    const refusal = { status: 401, headers: { 'www-authenticate': 'Bearer' } }
    expect(encodeExecInfo({ apiVersion, interactive: false, refusal })).toBe(
      encodeExecInfo({ apiVersion, interactive: false }),
    )
  })

  it('is one line', () => {
    const cluster = { server: 's', config: 'two\nlines' }
    expect(encodeExecInfo({ apiVersion, interactive: false, cluster })).not.toContain('\n')
  })
})

describe('the exec info of a v1alpha1 plugin', () => {
  it('has its fields in spec and at the top level, for both forms of that version', () => {
    const refusal = { status: 401, headers: { 'www-authenticate': 'Bearer realm="x"' } }
    const response = { header: { 'Www-Authenticate': ['Bearer realm="x"'] }, code: 401 }
    const fields = { response, interactive: true }
    expect(written({ apiVersion: ALPHA, interactive: true, refusal })).toEqual({
      kind: 'ExecCredential',
      apiVersion: ALPHA,
      spec: fields,
      ...fields,
    })
  })

  it.each<[string, Refusal['headers'], unknown]>([
    ['a name of one letter', { p: 'CP' }, { P: ['CP'] }],
    ['a name with digits', { 'x-2fa-3': 'y' }, { 'X-2fa-3': ['y'] }],
    ['several values', { 'set-cookie': ['a', 'b'] }, { 'Set-Cookie': ['a', 'b'] }],
    ['an empty value', { via: '' }, { Via: [''] }],
    ['no value', { via: undefined }, {}],
    ['no headers', {}, {}],
  ])('has headers in the form of Go: %s', (_, headers, header) => {
    const refusal = { status: 0, headers }
    const response = { code: 0, header }
    expect(written({ apiVersion: ALPHA, interactive: false, refusal })).toHaveProperty(
      'spec.response',
      response,
    )
  })

  it('has no response in the first run', () => {
    expect(written({ apiVersion: ALPHA, interactive: false })).toEqual({
      kind: 'ExecCredential',
      apiVersion: ALPHA,
      spec: { interactive: false },
      interactive: false,
    })
  })

  it('never has the cluster', () => {
    const cluster = { server: 'https://k' }
    expect(encodeExecInfo({ apiVersion: ALPHA, interactive: false, cluster })).not.toContain(
      'server',
    )
  })

  it('has the kind ExecInfo if an option says so', () => {
    const info: ExecInfo = { apiVersion: ALPHA, interactive: false, kind: 'ExecInfo' }
    expect(written(info)).toMatchObject({ kind: 'ExecInfo' })
  })
})

describe('a plugin', () => {
  it.each(API_VERSIONS)('must not prompt if a %s client does not say that it may', (apiVersion) => {
    const info = { kind: 'ExecCredential', apiVersion }
    expect(decodeExecInfo(info)).toEqual({ apiVersion, interactive: false })
  })

  it.each(['Other', ''])('rejects the kind "%s" in every version', (kind) => {
    for (const apiVersion of API_VERSIONS) {
      expect(() => decodeExecInfo({ kind, apiVersion })).toThrow('ExecCredential')
    }
  })

  it('reads a header without values', () => {
    const spec = { response: { code: 401, header: { Warning: null } } }
    const { response } = decodeExecInfo({ kind: 'ExecCredential', apiVersion: ALPHA, spec })
    expect(response).toEqual({ code: 401, header: { Warning: [] } })
  })
})
