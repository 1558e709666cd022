import type { Cluster } from 'kubecred'
import type { PlainResponse } from 'kubecred/internal'
import type { Call, Run } from '../command.ts'
import { EXIT } from '../exit-status.ts'
import { explainErrorResponse } from '../fetch/explain-error-response.ts'
import { type RequestDraft, readRequest, readsStdin } from '../fetch/read-request.ts'
import { headerPairs, secretHeaders, sendLogged, statusLine } from '../fetch/send-logged.ts'
import { readText, writeBody } from '../fetch/write-body.ts'
import { withTimeLimit } from '../flags/time-limit.ts'
import { choosePalette } from '../render/colour.ts'
import { indentJson } from '../render/indent-json.ts'
import { printableLine } from '../render/printable.ts'
import { withSession } from '../session.ts'

/** `fetch PATH`: sends one request and prints the response as it arrives. */
export const fetch: Run = async (call) => {
  const draft = await readRequest(call)
  return withSession(call, (cluster) => exchange(call, cluster, draft), {
    stdinUnavailable: readsStdin(call) ? 'used by -d @-' : undefined,
    secrets: secretHeaders(draft.headers),
  })
}

async function exchange(call: Call, cluster: Cluster, draft: RequestDraft): Promise<number> {
  const signal = withTimeLimit(call.signal, call.flags, 'request-timeout')
  const response = await sendLogged(call, cluster, draft.path, { ...draft, signal })
  if (call.flags.isOn('include')) call.io.stdout.write(describeHead(call, response))
  const reading = { signal, server: cluster.server }
  const text = shouldIndent(call, draft, response)
    ? await writeIndented(call, response, reading)
    : await writeBody(response, call.io, reading)
  call.log.tell('the response is complete', 2)
  if (response.status >= 400) {
    const { path, hasOwnCredential } = draft
    return explainErrorResponse(call, cluster, { response, text, path, hasOwnCredential })
  }
  if (response.status >= 300) reportRedirect(call, response)
  return EXIT.done
}

/** JSON is indented only on a terminal, and not for a stream, which is written as it arrives. */
function shouldIndent(
  { flags, io }: Call,
  { path }: RequestDraft,
  { headers }: PlainResponse,
): boolean {
  const isStream = /[?&](?:watch|follow)=(?:1|t|true)/i.test(path) || /\/watch\//.test(path)
  const isJson = /^application\/json\b/i.test(String(headers['content-type']))
  return io.isTerminal.stdout && !flags.isOn('raw') && isJson && !isStream
}

async function writeIndented(
  { io }: Call,
  response: PlainResponse,
  { signal, server }: { readonly signal: AbortSignal; readonly server: string },
): Promise<string> {
  const text = await readText(response, signal, server)
  io.stdout.write(indentJson(text, choosePalette(true, io.env)) ?? text)
  return text
}

function describeHead({ stderr }: Call, response: PlainResponse): string {
  const headers = headerPairs(response).map(([name, value]) => `${name}: ${value}\r\n`)
  return stderr.hide(`HTTP/1.1 ${statusLine(response)}\r\n${headers.join('')}\r\n`)
}

/** Reports a redirect. It is not followed, because the credential must not be sent to another server. */
function reportRedirect({ stderr }: Call, response: PlainResponse): void {
  const { location } = response.headers
  const where = location === undefined ? '' : ` to ${printableLine(String(location))}`
  stderr.line(`HTTP ${statusLine(response)}: redirect${where} was not followed`)
}
