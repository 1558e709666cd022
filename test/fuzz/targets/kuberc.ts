import { PolicyInvalidError } from '../../../packages/core/src/errors/index.ts'
import { parseKuberc } from '../../../packages/core/src/plugin/kuberc.ts'
import { parseWithLibrary } from '../../../packages/core/test/formats/library-yaml.ts'
import { readCorpus } from '../corpus.ts'
import { type FuzzTarget, must, resultOf } from '../fuzz-target.ts'

/** kubectl's preferences. The reference is the YAML library with its own conversion to data. */
export const kuberc: FuzzTarget = {
  name: 'kuberc',
  about: 'any text is the policy that is written in it, or refuses every plugin',
  async open() {
    return {
      corpus: readCorpus('kuberc'),
      words: ['AllowAll', 'DenyAll', 'Allowlist', 'credentialPluginPolicy: ', '---\n', '--- # x\n'],
      check(input) {
        const text = input.toString()
        const read = resultOf(() => parseKuberc(text, '/kuberc'))
        if ('error' in read) {
          if (!(read.error instanceof PolicyInvalidError)) throw read.error
          return
        }
        const written = policyIn(text)
        if (written === undefined) return
        must(read.value.type === written, `${written} was read as ${read.value.type}`)
      },
    }
  },
}

/** The policy of a file with one document; undefined if the library cannot tell. */
function policyIn(text: string): string | undefined {
  if (/^(?:---|\.\.\.)/m.test(text)) return undefined
  const data = parseWithLibrary(text)
  if (data === undefined) return undefined
  const policy: unknown = Object(data).credentialPluginPolicy ?? 'AllowAll'
  return policy === '' ? 'AllowAll' : String(policy)
}
