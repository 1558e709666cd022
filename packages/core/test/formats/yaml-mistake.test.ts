import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { parseYaml } from '../../src/formats/yaml.ts'
import { findYamlMistake } from '../../src/formats/yaml-mistake.ts'

const KUBECONFIG = `apiVersion: v1
kind: Config
current-context: dev
clusters:
- name: c
  cluster:
    server: https://h
    insecure-skip-tls-verify: true
contexts:
- name: dev
  context:
    cluster: c
    user: u
users:
- name: u
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: aws
      args:
      - eks
      - get-token
      installHint: |
        Install it:
          brew install awscli
      env:
      - name: A
        value: b
`

/** The kubeconfig with another text in one of its lines. */
function withLine(number: number, text: string): string {
  return KUBECONFIG.split('\n')
    .map((line, index) => (index === number - 1 ? text : line))
    .join('\n')
}

describe('a mistake in a kubeconfig is found in its line:', () => {
  it.each([
    ['a tab', 7, '\tserver: https://h', 'a tab in the indentation; use spaces'],
    ['spaces and a tab', 7, '  \tserver: https://h', 'a tab in the indentation; use spaces'],
    ['a key too far left', 8, '   x: true', 'wrong indentation: 3 spaces, expected 2 or 4'],
    ['a key too far right', 8, '     x: true', 'wrong indentation: 5 spaces, expected 4'],
    [
      'a top-level key too far right',
      2,
      '  kind: Config',
      'wrong indentation: 2 spaces, expected 0',
    ],
    [
      'a nested key too far right',
      19,
      '        command: aws',
      'wrong indentation: 8 spaces, expected 6',
    ],
    ['a key between list and item', 11, ' context:', 'wrong indentation: 1 space, expected 0 or 2'],
    [
      'a list item too far left',
      22,
      '    - x',
      'a list item at the wrong depth: 4 spaces, expected 0 or 6',
    ],
    [
      'a list item one space off',
      22,
      '     - x',
      'a list item at the wrong depth: 5 spaces, expected 0 or 6',
    ],
    ['a missing colon', 8, '    insecure-skip-tls-verify true', 'a colon is missing after a key'],
    [
      'a missing colon after the first key',
      7,
      '    server https://h',
      'a colon is missing after a key',
    ],
    ['a missing colon before a block', 6, '  cluster', 'a colon is missing after a key'],
    ['a missing colon at the top level', 4, 'clusters', 'a colon is missing after a key'],
    [
      'a missing space after a colon',
      3,
      'current-context:dev',
      'a space is missing after the colon',
    ],
    ['a missing space after a dash', 5, '-name: c', 'a space is missing after the dash'],
    ['an open quote', 19, '      command: "aws', 'a quote is not closed'],
    ['an open bracket', 20, '      args: [eks', 'a bracket is not closed'],
  ])('%s', (_, line, text, reason) => {
    const broken = withLine(line, text)
    expect(findYamlMistake(broken)).toEqual({ reason, line })
    expect(() => parseYaml(broken)).toThrow(`${reason} (line ${line})`)
    // Also with the line ends of Windows.
    expect(() => parseYaml(broken.replaceAll('\n', '\r\n'))).toThrow(`${reason} (line ${line})`)
  })

  it('an item that is not below the first one', () => {
    const text = 'clusters:\n  - name: a\n    cluster:\n      server: x\n- name: b\n'
    const reason = 'a list item at the wrong depth: 0 spaces, expected 2'
    expect(findYamlMistake(text)).toEqual({ reason, line: 5 })
    expect(() => parseYaml(text)).toThrow(`${reason} (line 5)`)
  })
})

describe('a valid text has no mistake:', () => {
  it.each([
    KUBECONFIG,
    '# comment\n---\na: 1\n',
    'a:\n- b\n-\n  c: d\n- - e\n  - f\n',
    'a: "x\n  y: z"\nb: {c: [1,\n 2]}\nd: >-\n  text: x\n  - y\n\ne: 1\n',
    "a: 'it''s'\nb: '\\'\nc: # none\n  d: 1 # one\n",
    'a: &x\n  b: 1\nc: *x\nd: !!str 5\n? complex\n: value\n',
    'a: one\n  two\n  three\nb:\n  four\nc: 1\n',
    '\t# a tab before a comment\na: 1\n',
    'a: " #"\nb: "x" # it\'s a comment\n',
  ])('%j', (text) => {
    expect(findYamlMistake(text)).toBeUndefined()
  })

  it('whatever a YAML writer writes', () => {
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(fc.stringMatching(/^[a-z][a-z. /-]{0,8}[a-z]$/), tie('tree'), { maxKeys: 3 }),
      ),
    }))
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-z]+$/), tree), (value) => {
        expect(findYamlMistake(stringify(value))).toBeUndefined()
      }),
    )
  })
})
