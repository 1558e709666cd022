import { expect, it } from 'vitest'
import { type SandboxOptions, startSandbox } from '../src/index.ts'

it('startSandbox() rejects an unknown option', async () => {
  const options = { anonymos: false } as SandboxOptions
  await expect(startSandbox(options)).rejects.toThrow(
    new TypeError('startSandbox() has no "anonymos"; did you mean anonymous?'),
  )
})

it('every method of a sandbox rejects an unknown option', async () => {
  await using sandbox = await startSandbox()
  const user = 'jane'
  const token = { user, lifetimeMS: 1, ttl: 1 }
  expect(() => sandbox.issueToken(token)).toThrow(
    'issueToken() has no "lifetimeMS"; did you mean lifetimeMs?',
  )
  const certificate = { user, group: ['dev'] }
  await expect(sandbox.issueCertificate(certificate)).rejects.toThrow(
    'issueCertificate() has no "group"; did you mean groups?',
  )
  const plugin = { user, exitcode: 1 }
  await expect(sandbox.plugin(plugin)).rejects.toThrow(
    'plugin() has no "exitcode"; did you mean exitCode?',
  )
  const answers = 'tokens' as 'token'
  await expect(sandbox.plugin({ user, credential: answers })).rejects.toThrow(
    'option credential of plugin() must be one of token, certificate, both, not "tokens"',
  )
  await expect(sandbox.restart({ downMs: undefined, downms: 1 } as object)).rejects.toThrow(
    'restart() has no "downms"; did you mean downMs?',
  )
})

it('an undefined option has its default', async () => {
  await using sandbox = await startSandbox({ http2: undefined, port: undefined, now: undefined })
  const { expirationTimestamp } = sandbox.issueToken({ user: 'jane', lifetimeMs: undefined })
  expect(expirationTimestamp).toBeUndefined()
})
