import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { Sandbox } from '@kubecred/sandbox'

/** A response that was read completely. */
export interface Answered {
  readonly status: number
  readonly text: string
}

/** The user of the test's own requests; the client under test never uses it. */
const ADMIN = 'admin'

/** Changes something on the server without the client, over a separate connection. */
export async function asAdmin(
  sandbox: Sandbox,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answered> {
  const { token } = sandbox.issueToken({ user: ADMIN })
  const asked = request(sandbox.url + path, {
    method,
    agent: false,
    ca: sandbox.caPem,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  })
  asked.end(body === undefined ? undefined : JSON.stringify(body))
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk as string
  return { status: response.statusCode ?? 0, text }
}

/** The requests of the client under test, oldest first. */
export function seen(sandbox: Sandbox): Sandbox['requests'] {
  return sandbox.requests.filter(({ tokenUser }) => tokenUser !== ADMIN)
}
