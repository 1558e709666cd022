import { createGuard, isRejection } from '../../../packages/core/src/proxy/admit-request.ts'
import { admitBySecret } from '../../../packages/core/src/proxy/authenticate.ts'
import { DEFAULT_RULES } from '../../../packages/core/src/proxy/rules.ts'
import { Secret } from '../../../packages/core/src/secret/secret.ts'
import { readHttpCorpus } from '../corpus.ts'
import { type FuzzTarget, must } from '../fuzz-target.ts'

const SECRET = 'proxy-secret-0123456789'
const HOST = '127.0.0.1:8001'
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** What Node's parser rejects in the value of a header. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters in question.
const INVALID_VALUE = /[\0-\x08\x0a-\x1f\x7f]/
const NEVER_FORWARDED =
  /^(?:host|authorization|proxy-(?:authorization|authenticate|connection)|cookie2?|connection|te|trailer|upgrade|transfer-encoding|content-length|x-remote-.*|x-forwarded-.*|forwarded|via|x-http-method(?:-override)?|impersonate-.*|__proto__)$/

/** The head of a request to the proxy. The reference for paths is the URL parser of browsers. */
export const proxyRequests: FuzzTarget = {
  name: 'proxy-requests',
  about: 'a request without the secret, or with two meanings, is not admitted',
  async open() {
    const authenticate = admitBySecret(() => [new Secret(SECRET)])
    const guard = createGuard({ hosts: [HOST], authenticate, rules: DEFAULT_RULES, prefix: '/' })
    return {
      corpus: readHttpCorpus('proxy-requests'),
      words: [
        ...[
          'Host: evil\r\n',
          'Origin: http://evil\r\n',
          'Connection: authorization\r\n',
          '%2e%2e/',
        ],
        ...['/exec', '/../', ';/', '%5c', '%00', 'Impersonate-User: a\r\n', 'Upgrade: h2c\r\n'],
      ],
      check(input) {
        const request = readHead(input.toString('latin1'))
        const verdict = guard(request)
        if (verdict instanceof Promise) throw new TypeError('a secret is checked at once')
        if (isRejection(verdict)) {
          must(verdict.status >= 400 && verdict.status < 500, `rejected with ${verdict.status}`)
          return
        }
        const { path, head } = verdict
        must(valuesOf(request.rawHeaders, 'host').join() === HOST, 'another host was admitted')
        const [credential = '', ...more] = valuesOf(request.rawHeaders, 'authorization')
        must(more.length === 0, 'two credentials were admitted')
        must(credential.replace(/^bearer /i, '') === SECRET, 'another secret was admitted')
        const url = new URL(`http://host.example${path.written}${path.search}`)
        must(url.host === 'host.example' && url.hash === '', 'the path leads to another host')
        must(decodeURIComponent(url.pathname) === path.decoded, 'the path has two meanings')
        must(!/^\/api\/.*\/pods\/.*\/(?:exec|attach)/s.test(path.decoded), 'exec was admitted')
        const passed = Object.keys(head.headers).filter((name) => NEVER_FORWARDED.test(name))
        must(passed.length === 0, `${passed.join()} would be forwarded`)
      },
    }
  },
}

function readHead(text: string) {
  const [first = '', ...lines] = text.split('\r\n')
  const [method = '', target = ''] = first.split(' ')
  const rawHeaders = lines.flatMap((line) => {
    const [name = '', ...value] = line.split(':')
    const shown = value.join(':').trim()
    return TOKEN.test(name) && !INVALID_VALUE.test(shown) ? [name, shown] : []
  })
  const isUpgrade = valuesOf(rawHeaders, 'upgrade').length > 0
  return { method, target, rawHeaders, isUpgrade }
}

function valuesOf(raw: readonly string[], name: string): string[] {
  return raw.filter((_, at) => at % 2 === 1 && raw[at - 1]?.toLowerCase() === name)
}
