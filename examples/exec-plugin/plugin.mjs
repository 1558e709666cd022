#!/usr/bin/env node
// A credential plugin: reads the exec info, prints a token, and writes everything else to standard error.
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
    // A little before the real expiry, because clocks differ.
    status: { token, expirationTimestamp: new Date(Date.now() + 14 * 60_000).toISOString() },
  }),
)
