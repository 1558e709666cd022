import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeJson } from '../../../src/formats/json.ts'
import { API_VERSIONS, GROUP } from '../../../src/kubeconfig/exec-config.ts'
import { encodeExecInfo } from '../../../src/plugin/exec-info.ts'
import { readExecInfo } from '../../../src/plugin/kit/index.ts'

const [V1, , ALPHA] = API_VERSIONS
const base64 = (text: string): string => Buffer.from(text).toString('base64')

const infoWith = (spec: object, top: object = {}): string =>
  encodeJson({ kind: 'ExecCredential', apiVersion: V1, spec, ...top })
const withCluster = (fields: object): string =>
  infoWith({ interactive: true, cluster: { server: 'https://k', ...fields } })

const failure = async (text: string | undefined): Promise<{ field: string; message: string }> =>
  readExecInfo(text).then(
    () => expect.unreachable(),
    (error) => ({ field: error.field, message: error.message, code: error.code, hint: error.hint }),
  )

describe('v1alpha1', () => {
  const response = { code: 401, header: { 'Www-Authenticate': ['Bearer'] } }
  const alpha = (object: object): Promise<unknown> =>
    readExecInfo(JSON.stringify({ kind: 'ExecCredential', apiVersion: ALPHA, ...object }))

  it.each([
    ['as it shipped', { spec: { response, interactive: true } }],
    ['as it was proposed', { kind: 'ExecInfo', response, interactive: true }],
    [
      'with the kind of the proposal and a spec',
      { kind: 'ExecInfo', spec: { response, interactive: true } },
    ],
    [
      'with both',
      { spec: { response, interactive: true }, response: { code: 1 }, interactive: false },
    ],
  ])('is read %s', async (_, object) => {
    expect(await alpha(object)).toEqual({ apiVersion: ALPHA, interactive: true, response })
  })

  it('has no response in a first run, and never a cluster', async () => {
    const cluster = { server: 'https://k' }
    expect(await alpha({ spec: { cluster } })).toEqual({ apiVersion: ALPHA, interactive: false })
  })

  it('is the only version with the kind ExecInfo and a response', async () => {
    expect(await failure(infoWith({}, { kind: 'ExecInfo' }))).toMatchObject({ field: 'kind' })
    expect(await readExecInfo(infoWith({ response }))).not.toHaveProperty('response')
  })
})

describe('an invalid field is named, without its value:', () => {
  const MARK = 'hunter2-hunter2'
  it.each([
    ['[]', ''],
    ['"text"', ''],
    ['3', ''],
    [infoWith({}, { kind: 7 }), 'kind'],
    [infoWith({}, { kind: undefined }), 'kind'],
    [infoWith({}, { kind: `Exec ${MARK}` }), 'kind'],
    [infoWith({}, { apiVersion: undefined }), 'apiVersion'],
    [infoWith({}, { apiVersion: 'v1' }), 'apiVersion'],
    [infoWith({}, { apiVersion: `${GROUP}/v2` }), 'apiVersion'],
    [infoWith({}, { apiVersion: 'other.k8s.io/v1' }), 'apiVersion'],
    [infoWith({}, { spec: [] }), 'spec'],
    [infoWith({}, { spec: MARK }), 'spec'],
    [infoWith({ interactive: MARK }), 'spec.interactive'],
    [infoWith({ interactive: 1 }), 'spec.interactive'],
    [infoWith({ cluster: MARK }), 'spec.cluster'],
    [infoWith({ cluster: {} }), 'spec.cluster.server'],
    [withCluster({ server: '' }), 'spec.cluster.server'],
    [withCluster({ server: 7 }), 'spec.cluster.server'],
    [withCluster({ 'tls-server-name': [MARK] }), 'spec.cluster.tls-server-name'],
    [withCluster({ 'insecure-skip-tls-verify': MARK }), 'spec.cluster.insecure-skip-tls-verify'],
    [withCluster({ 'disable-compression': 'no' }), 'spec.cluster.disable-compression'],
    [
      withCluster({ 'certificate-authority-data': MARK }),
      'spec.cluster.certificate-authority-data',
    ],
    [
      withCluster({ 'certificate-authority-data': 'YQ' }),
      'spec.cluster.certificate-authority-data',
    ],
    [withCluster({ 'proxy-url': `//${MARK}` }), 'spec.cluster.proxy-url'],
    [infoWith({ response: 401 }, { apiVersion: ALPHA }), 'spec.response'],
    [infoWith({ response: { code: MARK } }, { apiVersion: ALPHA }), 'spec.response.code'],
    [infoWith({ response: { code: 1.5 } }, { apiVersion: ALPHA }), 'spec.response.code'],
    [
      infoWith({ response: { header: { A: MARK } } }, { apiVersion: ALPHA }),
      'spec.response.header.A',
    ],
    [
      infoWith({ response: { header: { A: [1] } } }, { apiVersion: ALPHA }),
      'spec.response.header.A',
    ],
    [`{"kind": ${MARK}}`, ''],
    [`kind: "${MARK}`, ''],
  ])('%s', async (text, field) => {
    const error = await failure(text)
    expect(error).toMatchObject({ code: 'ERR_EXEC_INFO', field })
    expect(JSON.stringify(error)).not.toContain(MARK)
    expect(error.message).toContain(field)
  })
})

describe('the exec info', () => {
  it('can be YAML', async () => {
    const text = `kind: ExecCredential\napiVersion: ${V1}\nspec:\n  interactive: true\n`
    expect(await readExecInfo(text)).toEqual({ apiVersion: V1, interactive: true })
  })

  it('can have unknown fields, and null for unset ones', async () => {
    const nothing = {
      'tls-server-name': null,
      'certificate-authority-data': null,
      'proxy-url': null,
    }
    const info = await readExecInfo(withCluster({ ...nothing, new: 1 }))
    expect(info.cluster).toEqual({
      server: 'https://k',
      insecureSkipTlsVerify: false,
      disableCompression: false,
    })
  })

  it.each(['json', 'yaml'])('keeps every digit of the config, as %s', async (format) => {
    const id = 12_345_678_901_234_567_890n
    const json = withCluster({ config: { id, small: 1, text: String(id) } })
    const info = await readExecInfo(format === 'json' ? json : `--- ${json}`)
    expect(info.cluster?.config).toEqual({ id, small: 1, text: String(id) })
  })

  it('cannot set the prototype', async () => {
    const info = await readExecInfo(
      withCluster({}).replace('"server"', '"__proto__":{"x":1},"server"'),
    )
    expect(Object.getPrototypeOf(info.cluster)).toBe(Object.prototype)
  })
})

it('readExecInfo decodes what encodeExecInfo encodes', async () => {
  const cluster = fc.record(
    {
      server: fc.webUrl(),
      tlsServerName: fc.domain(),
      insecureSkipTlsVerify: fc.boolean(),
      certificateAuthorityData: fc.string({ minLength: 1, unit: 'grapheme' }).map(base64),
      proxyUrl: fc.constantFrom('http://p:3128', 'https://u:w@p', 'socks5://p:1080'),
      disableCompression: fc.boolean(),
      config: fc.oneof(fc.jsonValue(), fc.record({ id: fc.bigInt({ min: 2n ** 53n }) })),
    },
    { requiredKeys: ['server'] },
  )
  // Header names that are already in Go's canonical form.
  const name = fc.string().filter((text) => !/(^|-)[a-z]/.test(text))
  const refusal = fc.record({
    status: fc.nat(599),
    headers: fc.dictionary(name, fc.array(fc.string())),
  })
  const any = fc.record(
    { apiVersion: fc.constantFrom(...API_VERSIONS), interactive: fc.boolean(), cluster, refusal },
    { requiredKeys: ['apiVersion', 'interactive'] },
  )
  await fc.assert(
    fc.asyncProperty(any, fc.constantFrom('ExecCredential', 'ExecInfo'), async (given, kind) => {
      const isAlpha = given.apiVersion === ALPHA
      const info = await readExecInfo(encodeExecInfo({ ...given, ...(isAlpha && { kind }) }))
      expect(info).toEqual({
        apiVersion: given.apiVersion,
        interactive: given.interactive,
        ...(isAlpha &&
          given.refusal && {
            response: { code: given.refusal.status, header: given.refusal.headers },
          }),
        ...(!isAlpha && given.cluster && { cluster: expect.anything() }),
      })
      if (info.cluster === undefined || given.cluster === undefined) return
      const { proxyUrl, certificateAuthorityData: pem, config, ...rest } = info.cluster
      // JSON does not distinguish -0 from 0, nor a bigint from a number.
      expect(encodeJson(config)).toBe(encodeJson(given.cluster.config ?? undefined))
      expect({
        ...rest,
        proxyUrl: proxyUrl?.expose(),
        certificateAuthorityData: pem && base64(pem),
      }).toEqual({
        insecureSkipTlsVerify: false,
        disableCompression: false,
        ...given.cluster,
        config: undefined,
      })
    }),
  )
})
