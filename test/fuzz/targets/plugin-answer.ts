import { isHeaderSafe } from '../../../packages/core/src/credential/credential.ts'
import { isCredentialError } from '../../../packages/core/src/errors/index.ts'
import { API_VERSIONS } from '../../../packages/core/src/kubeconfig/exec-config.ts'
import { decodeExecCredential } from '../../../packages/core/src/plugin/exec-credential.ts'
import { readCorpus } from '../corpus.ts'
import { type FuzzTarget, must, resultOf } from '../fuzz-target.ts'

/** In every answer of the corpus, in each of its secrets. */
const MARK = 'marked-'

/** The standard output of a credential plugin. The reference is `JSON.parse`. */
export const pluginAnswer: FuzzTarget = {
  name: 'plugin-answer',
  about: 'any output is a credential, or an error with a code that quotes nothing of it',
  async open() {
    return {
      corpus: readCorpus('plugin-answer'),
      words: ['"status":', '"token":', '"expirationTimestamp":', '"apiVersion":', 'ExecCredential'],
      check(input) {
        for (const apiVersion of API_VERSIONS) {
          const decoded = resultOf(() => decodeExecCredential(input, { apiVersion, command: 'p' }))
          if ('error' in decoded) {
            if (!isCredentialError(decoded.error)) throw decoded.error
            const { message, hint } = decoded.error
            must(!`${message} ${hint}`.includes(MARK), `an error quotes the output: ${message}`)
            continue
          }
          const { token, certificate, expiresAt } = decoded.value
          must(!Number.isNaN(expiresAt), 'the expiry is not a time')
          must(token !== undefined || certificate !== undefined, 'the credential is empty')
          if (token === undefined) continue
          must(isHeaderSafe(token.expose()), 'the token cannot be sent in a header')
          must(isSameInJson(input, token.expose()), 'JSON.parse reads another token')
        }
      },
    }
  },
}

/** Whether JSON.parse finds this token, or the answer is not JSON. */
function isSameInJson(input: Buffer, token: string): boolean {
  const parsed = resultOf(() => JSON.parse(input.toString()))
  if ('error' in parsed) return true
  const answer = Object(parsed.value)
  return (Object(answer.status).token ?? answer.token) === token
}
