import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { isCredentialError } from '../../../packages/core/src/errors/index.ts'
import type { OidcConfig } from '../../../packages/core/src/kubeconfig/connection.ts'
import { nodeOidcIssuer } from '../../../packages/core/src/node/oidc-issuer.ts'
import { Secret } from '../../../packages/core/src/secret/secret.ts'
import { readHttpCorpus } from '../corpus.ts'
import { type FuzzTarget, must } from '../fuzz-target.ts'

const REFRESH_TOKEN = 'refresh-token-3hT9wQ7x'
const CLIENT_SECRET = 'client-secret-8Kd2mZ4v'
/** Stands in the corpus for the address of the issuer. */
const ISSUER = 'http://issuer.invalid'
const DISCOVERY = '/.well-known/openid-configuration'

/** The responses of an OpenID Connect issuer, as bytes: first as the discovery, then as the response to a refresh. */
export const oidcAnswers: FuzzTarget = {
  name: 'oidc-answers',
  about: 'any response is a token that can be sent, or an error with a code and without secrets',
  async open() {
    let answer = (_path: string): Buffer => Buffer.alloc(0)
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', (head: Buffer) => {
        socket.end(answer(/ (\S+) /.exec(head.toString('latin1'))?.[1] ?? ''))
      })
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const honest = respond(JSON.stringify({ issuer: url, token_endpoint: `${url}/token` }))
    return {
      corpus: readHttpCorpus('oidc-answers'),
      words: [
        '"id_token":',
        '"error":',
        '"issuer":',
        '"token_endpoint":',
        'HTTP/1.1 101 X\r\n',
        ' 999 ',
        REFRESH_TOKEN,
        CLIENT_SECRET,
      ],
      async check(input) {
        const bytes = Buffer.from(input.toString('latin1').replaceAll(ISSUER, url), 'latin1')
        for (const where of [DISCOVERY, '/token']) {
          answer = (path) => (path === where ? bytes : honest)
          await checkRefresh(url)
        }
      },
      async [Symbol.asyncDispose]() {
        await new Promise((resolve) => server.close(resolve))
      },
    }
  },
}

function respond(body: string): Buffer {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n'
  return Buffer.from(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
}

async function checkRefresh(issuer: string): Promise<void> {
  const config: OidcConfig = {
    issuer,
    clientId: 'kube',
    clientSecret: new Secret(CLIENT_SECRET),
    entry: { user: 'u', file: '/k' },
  }
  const { signal } = new AbortController()
  try {
    const port = nodeOidcIssuer({ timeLimitMs: 3000 })
    const { idToken, refreshToken } = await port.refresh(config, new Secret(REFRESH_TOKEN), signal)
    must(idToken !== undefined || refreshToken !== undefined, 'the grant is empty')
    must(/^[!-~]+$/.test(idToken?.expose() ?? '-'), 'the token cannot be sent in a header')
    must(refreshToken?.expose() !== '', 'the refresh token is empty')
  } catch (error) {
    if (!isCredentialError(error)) throw error
    const { code, message, hint } = error
    must(code.startsWith('ERR_OIDC_'), `the code is ${code}`)
    must(typeof hint === 'string' && hint !== '', 'the hint is not text')
    const text = `${message} ${hint}`
    must(!text.includes(REFRESH_TOKEN) && !text.includes(CLIENT_SECRET), 'a secret is shown')
    must(!/[\p{Cc}\p{Cf}]/u.test(text), 'a control character is shown')
  }
}
