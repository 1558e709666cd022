import { describe, expect, it } from 'vitest'
import { PolicyInvalidError } from '../../src/errors/index.ts'
import { parseKuberc } from '../../src/plugin/kuberc.ts'
import { ALLOW_ALL } from '../../src/plugin/plugin-policy.ts'

const PATH = '/home/ann/.kube/kuberc'
const HEAD = 'apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n'
const read = (rest: string) => parseKuberc(HEAD + rest, PATH)

describe('a kuberc', () => {
  it.each([
    ['no policy at all', ''],
    ['an empty policy', 'credentialPluginPolicy: ""'],
    ['null', 'credentialPluginPolicy:\ncredentialPluginAllowlist:'],
    ['AllowAll', 'credentialPluginPolicy: AllowAll'],
    ['preferences of other kinds', 'defaults: []\naliases: []\nunknown: {a: 1}'],
  ])('with %s allows everything', (_, text) => {
    expect(read(text)).toBe(ALLOW_ALL)
  })

  it('allows everything if it is empty', () => {
    expect(parseKuberc('# nothing yet\n', PATH)).toBe(ALLOW_ALL)
  })

  it('can have the version v1alpha1', () => {
    const text = HEAD.replace('v1beta1', 'v1alpha1')
    expect(parseKuberc(`${text}credentialPluginPolicy: DenyAll`, PATH)).toMatchObject({
      type: 'DenyAll',
    })
  })

  describe('with several documents', () => {
    const deny = `${HEAD}credentialPluginPolicy: DenyAll\n`
    it.each([
      ['after empty documents', `---\n---\n${deny}`],
      ['after a comment', `# mine\n--- # empty\n# nothing\n---\r\n${deny}`],
      ['after an unknown version', `${HEAD.replace('v1beta1', 'v9')}---\n${deny}`],
      ['before another one', `${deny}---\n${HEAD}credentialPluginPolicy: AllowAll\n`],
      ['before invalid YAML', `${deny}---\na: [\n`],
    ])('uses the first with a known version: %s', (_, text) => {
      expect(parseKuberc(text, PATH)).toMatchObject({ type: 'DenyAll' })
    })

    it('names the line in the file if one is invalid', () => {
      expect(() => parseKuberc(`---\n---\nkind: [`, PATH)).toThrow(/line 3/)
    })
  })

  it('is the origin of a DenyAll policy', () => {
    expect(read('credentialPluginPolicy: DenyAll')).toEqual({ type: 'DenyAll', origin: PATH })
  })

  it('can have an allowlist with command, name (Kubernetes 1.35) and sha256', () => {
    const sha256 = 'ab'.repeat(32)
    const text = `credentialPluginPolicy: Allowlist
credentialPluginAllowlist:
- command: aws
- name: /usr/bin/gke
- {command: tsh, sha256: ${sha256}}`
    expect(read(text)).toEqual({
      type: 'Allowlist',
      origin: PATH,
      allowlist: [{ command: 'aws' }, { command: '/usr/bin/gke' }, { command: 'tsh', sha256 }],
    })
  })
})

describe('an invalid kuberc is rejected', () => {
  const allowlist = (entries: string) =>
    `credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist: ${entries}`
  it.each([
    { text: 'kind: [', says: 'line' },
    { text: 'just text', says: 'it contains a string' },
    { text: '[]', says: 'it contains a list' },
    { text: 'kind: Config\napiVersion: v1', says: 'kind is not Preference' },
    {
      text: 'kind: Preference\napiVersion: kubectl.config.k8s.io/v9',
      says: 'apiVersion is none of',
    },
    { text: 'kind: Preference', says: 'apiVersion is none of' },
    { text: `${HEAD}credentialPluginPolicy: 1`, says: 'is a number, not a string' },
    { text: `${HEAD}credentialPluginPolicy: yes`, says: 'is a boolean, not a string' },
    { text: `${HEAD}credentialPluginPolicy: Maybe`, says: 'unknown policy "Maybe"' },
    { text: `${HEAD}credentialPluginPolicy: Allowlist`, says: 'unspecified' },
    { text: HEAD + allowlist('[]'), says: 'empty' },
    { text: HEAD + allowlist('aws'), says: 'not a list' },
    { text: HEAD + allowlist('[aws]'), says: 'entry 1 is not an object' },
    { text: HEAD + allowlist('[{command: aws}, {}]'), says: 'entry 2 is empty' },
    { text: HEAD + allowlist('[{command: 1}]'), says: 'entry 1 is not a string' },
    { text: HEAD + allowlist('[{command: a, name: a}]'), says: 'both name and command' },
    { text: HEAD + allowlist('[{command: ./a}]'), says: 'shortest form' },
    ...['abc', `x${'ab'.repeat(32)}`, `${'ab'.repeat(32)}0`, `[${'ab'.repeat(32)}]`].map(
      (sha256) => ({
        text: HEAD + allowlist(`[{command: a, sha256: ${sha256}}]`),
        says: '64 hexadecimal digits',
      }),
    ),
    { text: `${HEAD}credentialPluginAllowlist: [{command: a}]`, says: 'does nothing' },
  ])('$says', ({ text, says }) => {
    const parse = () => parseKuberc(text, PATH)
    expect(parse).toThrow(PolicyInvalidError)
    expect(parse).toThrow(says)
    expect(parse).toThrow(PATH)
  })
})
