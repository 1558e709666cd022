import { isCredentialError } from '../../../packages/core/src/errors/index.ts'
import { buildConnection } from '../../../packages/core/src/kubeconfig/build-connection.ts'
import { parseKubeconfigText } from '../../../packages/core/src/kubeconfig/parse-kubeconfig.ts'
import { AROUND, FILE } from '../../../packages/core/test/kubeconfig/build-test-connection.ts'
import { readCorpus } from '../corpus.ts'
import { type FuzzTarget, must, resultOf } from '../fuzz-target.ts'

export const KUBECONFIG_WORDS = [
  ...[
    '&a ',
    '*a',
    '<<: *a\n',
    '!!str ',
    '!!binary ',
    '---\n',
    '...\n',
    '? ',
    '|\n  ',
    '>-\n  ',
    '- ',
    ' # ',
  ],
  ...[
    'users:\n',
    'name: ',
    'exec:\n',
    'command: ',
    'args: ',
    'token: ',
    'e1',
    '0x1f',
    '1:30',
    'yes',
  ],
]

/** The text of a kubeconfig. `kubectl.ts` compares the result with that of kubectl. */
export const kubeconfig: FuzzTarget = {
  name: 'kubeconfig',
  about: 'any text is a kubeconfig, or an error with a code; the same holds for its connection',
  async open() {
    return {
      corpus: readCorpus('kubeconfig'),
      words: KUBECONFIG_WORDS,
      check(input) {
        const parsed = resultOf(() => parseKubeconfigText(input.toString(), FILE))
        if ('error' in parsed) return mustHaveCode(parsed.error)
        const built = resultOf(() => buildConnection(parsed.value, {}, AROUND))
        if ('error' in built) return mustHaveCode(built.error)
        const { polluted } = {} as { polluted?: unknown }
        must(polluted === undefined, 'the prototype of objects was changed')
      },
    }
  },
}

function mustHaveCode(error: unknown): void {
  if (!isCredentialError(error)) throw error
}
