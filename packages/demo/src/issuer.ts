import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

const MAX_KEY_LENGTH = 4096

/** Issues a certificate for a public key; both are PEM. */
export type Certify = (publicKey: string) => Promise<string>

/** Opens the socket where the demo's signer gets its certificate. Its folder is private, so it needs no authentication. */
export async function openIssuer(socket: string, certify: Certify): Promise<Server> {
  const server = createServer((request, response) => {
    answer(request, response, certify).catch((error: unknown) => {
      response.writeHead(400).end(error instanceof Error ? error.message : String(error))
    })
  })
  server.listen(socket)
  await once(server, 'listening')
  return server
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  certify: Certify,
): Promise<void> {
  let publicKey = ''
  for await (const chunk of request.setEncoding('utf8')) {
    publicKey += chunk
    if (publicKey.length > MAX_KEY_LENGTH) throw new Error('the public key is too long')
  }
  response.end(await certify(publicKey))
}
