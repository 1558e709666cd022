#!/usr/bin/env node
// A credential plugin: reads what it was asked, prints a token, says everything else on standard error.
const asked = JSON.parse(process.env.KUBERNETES_EXEC_INFO ?? '{}')
const token = process.env.EXAMPLE_TOKEN
if (token === undefined) {
  process.stderr.write('log in first: set EXAMPLE_TOKEN\n')
  process.exit(1)
}
process.stdout.write(
  JSON.stringify({
    apiVersion: asked.apiVersion,
    kind: 'ExecCredential',
    // A little earlier than the real end: clocks differ.
    status: { token, expirationTimestamp: new Date(Date.now() + 14 * 60_000).toISOString() },
  }),
)
