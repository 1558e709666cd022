/**
 * Returns the script of a credential plugin.
 *
 * It is CommonJS for any version of Node, with the interpreter's full path in its first line, so that it runs with an
 * empty PATH. It sends the exec info to the sandbox and prints the response.
 */
export function pluginScript(interpreter: string): string {
  return `#!${interpreter}
'use strict'
const { request } = require('node:http')
const { env } = process

const outgoing = request(
  {
    socketPath: env.KUBECRED_SANDBOX_SOCKET,
    path: '/run/' + env.KUBECRED_SANDBOX_PLUGIN,
    method: 'POST',
    headers: { authorization: 'Bearer ' + env.KUBECRED_SANDBOX_SECRET },
  },
  async (response) => {
    let text = ''
    for await (const chunk of response.setEncoding('utf8')) text += chunk
    if (response.statusCode !== 200) fail('the sandbox answered ' + response.statusCode)
    const { stdout, stderr, exitCode } = JSON.parse(text)
    process.stderr.write(stderr)
    process.stdout.write(stdout)
    process.exitCode = exitCode
  },
)
outgoing.on('error', (error) => fail(error.message))
outgoing.end(env.KUBERNETES_EXEC_INFO ?? '')

function fail(reason) {
  process.stderr.write('sandbox plugin: ' + reason + '\\n')
  process.exit(1)
}
`
}
