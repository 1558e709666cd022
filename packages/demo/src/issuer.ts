import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

const LARGEST_KEY = 4096

/** Certifies a public key, as PEM. */
export type Certify = (publicKey: string) => Promise<string>

/** Where a signer has its key certified: a socket in a folder that nobody else can enter. */
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
    if (publicKey.length > LARGEST_KEY) throw new Error('that is no public key')
  }
  response.end(await certify(publicKey))
}
