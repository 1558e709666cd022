#!/usr/bin/env node
// A credential plugin in one function. The kit reads the exec info, reserves standard output for the credential,
// explains failures on standard error, and stops cleanly on a signal.
import process from 'node:process'
import { runPlugin } from 'kubecred/plugin'

await runPlugin(async ({ interactive, prompt }) => {
  const token =
    process.env.EXAMPLE_TOKEN ?? (interactive && (await prompt('Token: ', { secret: true })))
  if (!token) throw Object.assign(new Error('log in first: set EXAMPLE_TOKEN'), { exitStatus: 3 })
  // A little before the real expiry, because clocks differ.
  return { token, expirationTimestamp: Date.now() + 14 * 60_000 }
})
