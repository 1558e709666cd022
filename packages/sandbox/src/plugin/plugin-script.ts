/**
 * Writes the text of a credential plugin.
 *
 * It is plain CommonJS for any Node, with the interpreter's full path in its first line, so that it
 * runs with an empty PATH. It knows nothing itself: it asks the sandbox and prints the answer.
 */
export function pluginScript(interpreter: string): string {
  return `#!${interpreter}
'use strict'
const { request } = require('node:http')
const { env } = process

const asked = request(
  {
    socketPath: env.KUBECRED_SANDBOX_SOCKET,
    path: '/run/' + env.KUBECRED_SANDBOX_PLUGIN,
    method: 'POST',
    headers: { authorization: 'Bearer ' + env.KUBECRED_SANDBOX_SECRET },
  },
  async (response) => {
    let text = ''
    for await (const chunk of response.setEncoding('utf8')) text += chunk
    if (response.statusCode !== 200) fail('the sandbox said ' + response.statusCode)
    const { stdout, stderr, exitCode } = JSON.parse(text)
    process.stderr.write(stderr)
    process.stdout.write(stdout)
    process.exitCode = exitCode
  },
)
asked.on('error', (error) => fail(error.message))
asked.end(env.KUBERNETES_EXEC_INFO ?? '')

function fail(reason) {
  process.stderr.write('sandbox plugin: ' + reason + '\\n')
  process.exit(1)
}
`
}
