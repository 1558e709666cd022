#!/usr/bin/env node
// A credential plugin around one function. The kit reads what was asked, keeps standard output for the answer,
// explains failures on standard error, and gives up cleanly on a signal.
import process from 'node:process'
import { runPlugin } from 'kubecred/plugin'

await runPlugin(async ({ interactive, prompt }) => {
  const token =
    process.env.EXAMPLE_TOKEN ?? (interactive && (await prompt('Token: ', { secret: true })))
  if (!token) throw Object.assign(new Error('log in first: set EXAMPLE_TOKEN'), { exitStatus: 3 })
  // A little earlier than the real end: clocks differ.
  return { token, expirationTimestamp: Date.now() + 14 * 60_000 }
})
