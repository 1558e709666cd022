import { inspect } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import * as agent from '../../src/errors/agent-errors.ts'
import * as errors from '../../src/errors/index.ts'
import * as kit from '../../src/errors/kit-errors.ts'
import * as kubeconfig from '../../src/errors/kubeconfig-errors.ts'
import * as login from '../../src/errors/login-errors.ts'
import * as oidc from '../../src/errors/oidc-errors.ts'
import * as plugin from '../../src/errors/plugin-errors.ts'
import * as signer from '../../src/errors/signer-errors.ts'
import * as transport from '../../src/errors/transport-errors.ts'

const { CODES, CredentialError, isCredentialError } = errors

/** One instance of each class. */
const EVERY: readonly errors.AnyCredentialError[] = [
  new errors.KubeconfigNotFoundError('/k'),
  new errors.KubeconfigUnreadableError('/k', 'it is a folder'),
  new errors.KubeconfigSyntaxError('/k', 'wrong indentation (line 1)'),
  new errors.KubeconfigInvalidError(['one', 'two']),
  new errors.KubeconfigEmptyError('looked in /k'),
  new errors.ContextNotFoundError('c', ['a', 'b']),
  new errors.ClusterNotFoundError('cluster "k" does not exist', []),
  new errors.UserNotFoundError('user "u" does not exist', ['x']),
  new errors.AuthProviderRemovedError('gcp is gone'),
  new errors.NotSupportedError('not yet'),
  new errors.FileUnreadableError('token file', '/t', 'it is empty'),
  new errors.CertificateInvalidError('no pair'),
  new errors.OidcConfigError('no client-id'),
  new errors.OidcRefusedError('https://i', 'said no', { reason: 'invalid_grant' }),
  new errors.OidcUnreachableError('https://i', 'connection refused'),
  new errors.PluginNotFoundError('p', 'was not found'),
  new errors.PluginNotExecutableError('p', 'cannot run'),
  new errors.PluginExecFormatError('p', 'cannot run'),
  new errors.PluginExitedError('p', 73),
  new errors.PluginKilledError('p', 'SIGKILL'),
  new errors.PluginTimedOutError('p', 'did not answer'),
  new errors.PluginOutputTooLargeError('p', 'printed too much'),
  new errors.PluginNoOutputError('p', 'printed nothing'),
  new errors.PluginSyntaxError('p', 'printed nonsense'),
  new errors.PluginVersionError('p', 'answered in another version'),
  new errors.PluginOutputInvalidError('p', 'status.token', 'returned a number'),
  new errors.PluginCertificateError('p', 'returned no pair'),
  new errors.PluginInputTooLargeError('p', 'cannot start'),
  new errors.PluginEnvironmentError('p', 'cannot start'),
  new errors.PluginNeedsTerminalError('p', 'cannot ask'),
  new errors.PluginNotStartedError('p', 'cannot start'),
  new errors.PluginDeniedError('p', 'may not run'),
  new errors.PolicyInvalidError('no policy'),
  new errors.SignerConfigError('no pathExec'),
  new errors.SignerResponseInvalidError('"s"', 'answered with a list'),
  new errors.SignerCertificateError('"s"', 'gave no certificate'),
  new errors.SignerFailedError('"s"', 'ended with status 1', { exitStatus: 1 }),
  new errors.SignerSocketError('at "/s"', 'does not exist'),
  new errors.SignatureInvalidError('wrong'),
  new errors.SignedTooLateError('too late'),
  new errors.HandshakeNotSignedError('not signed'),
  new errors.ProxyFailedError('http://p:3128', 'requires authentication (407)'),
  new errors.ServerUnreachableError('https://k', 'connection refused'),
  new errors.ServerUntrustedError('https://k', 'certificate has expired'),
  new errors.CertificateRefusedError('https://k', 'bad certificate'),
  new errors.TooManyStreamsError('too many'),
  new errors.ForeignOriginError('elsewhere'),
  new errors.TimedOutError('too late'),
  new errors.ClosedError(),
  new errors.ConnectionRetiredError(400),
  new errors.PeerMissingError('kubecred/ws', 'ws'),
  new errors.ServerResponseInvalidError('https://h', 'a SelfSubjectReview'),
  new errors.NoPrivateFolderError('no private folder is available'),
  new errors.SystemExhaustedError('EMFILE', 'too many files are open'),
  new errors.LoginShellError('/bin/sh', 'does not exist'),
  new errors.UpgradeRefusedError(403, 'pods "web" is forbidden'),
  new errors.TokenReviewError('the server responded 403'),
  new errors.LoginError([{ handler: 'corp', result: 'nothing', attempts: 1 }], 'login failed'),
  new errors.ConnectionInfoError(['server is missing']),
  new errors.LoginQueueFullError(10),
  new errors.LoginToolFailedError('kubectl', 'failed with exit code 1'),
  new errors.ExecInfoError('spec', 'is a number'),
  new errors.AgentUnusableError('no agent'),
  new errors.AgentLockedError('the agent is locked'),
  new errors.SignRequestError('digest', 'is empty'),
]

describe('error codes', () => {
  const all = Object.entries(CODES)

  it('have unique exit statuses from 10 to 99', () => {
    const statuses = all.map(([, { exit }]) => exit)
    expect(statuses.every((exit) => Number.isInteger(exit) && exit >= 10 && exit <= 99)).toBe(true)
    expect(new Set(statuses).size).toBe(statuses.length)
  })

  it('are sorted by exit status, with one range per group', () => {
    const statuses = all.map(([, { exit }]) => exit)
    expect(statuses).toEqual([...statuses].sort((a, b) => a - b))
  })

  it.each(all)(
    '%s has a meaning and a remedy, both full sentences',
    (code, { meaning, remedy }) => {
      expect(code).toMatch(/^ERR_[A-Z_]+[A-Z]$/)
      expect(meaning).toMatch(/^[A-Z].*\.$/)
      expect(remedy).toMatch(/^[A-Z].*\.$/)
    },
  )

  it('have one class each', () => {
    expect([...new Set(EVERY.map(({ code }) => code))].sort()).toEqual(Object.keys(CODES).sort())
  })
})

describe('error classes', () => {
  it('are all covered by this test', () => {
    const made = new Set(EVERY.map((error) => error.constructor))
    const declared = [agent, kit, kubeconfig, login, oidc, plugin, signer, transport]
      .flatMap((module) => Object.values<unknown>(module))
      .filter((each) => typeof each === 'function')
    expect(declared.length).toBeGreaterThan(50)
    expect(declared.filter((each) => !made.has(each)).map(({ name }) => name)).toEqual([])
  })

  it('are all exported', () => {
    const exported = new Set<unknown>(Object.values(errors))
    expect(EVERY.filter((error) => !exported.has(error.constructor))).toEqual([])
  })

  it('have one code each', () => {
    const codes = EVERY.map(({ code }) => code)
    expect(new Set(codes).size).toBe(codes.length)
  })
})

describe.each(EVERY.map((error) => [error.name, error] as const))('%s', (name, error) => {
  it('is an Error with a code from the table', () => {
    expect(error).toBeInstanceOf(CredentialError)
    expect(error).toBeInstanceOf(Error)
    expect(Object.hasOwn(CODES, error.code)).toBe(true)
    expect(error.retryable).toBe(CODES[error.code].retryable)
    expect(name).toMatch(/Error$/)
    expect(error.name).toBe(error.constructor.name)
  })

  it('has a lower-case message without a final stop, and a hint that is a sentence', () => {
    expect(error.message).toMatch(/^[^A-Z].*[^.]$/)
    expect(error.hint).toMatch(/^[A-Z].*\.$/)
  })

  it('is recognized by isCredentialError', () => {
    expect(isCredentialError(error)).toBe(true)
  })
})

describe('an error', () => {
  it('has the remedy of its code as the hint by default', () => {
    expect(new errors.TimedOutError('x').hint).toBe(CODES.ERR_TIMED_OUT.remedy)
    expect(new errors.TimedOutError('x', { hint: 'Wait.' }).hint).toBe('Wait.')
  })

  it('keeps its cause', () => {
    const cause = new Error('why')
    expect(new errors.NotSupportedError('x', { cause }).cause).toBe(cause)
    expect('cause' in new errors.NotSupportedError('x')).toBe(false)
  })

  it('about a plugin has the details of the run', () => {
    const error = new errors.PluginExitedError('aws', 255, { tookMs: 12, stderrTail: 'log in' })
    expect(error).toMatchObject({
      command: 'aws',
      exitStatus: 255,
      tookMs: 12,
      stderrTail: 'log in',
    })
    expect(error.message).toBe('credential plugin "aws" failed with exit code 255: log in')
  })

  it('lists existing names in the hint, at most eight', () => {
    const names = Array.from({ length: 100 }, (_, index) => `c${index}`)
    expect(new errors.ContextNotFoundError('x', names).hint).toMatch(/"c7" and 92 more\.$/)
    expect(new errors.ContextNotFoundError('x', []).hint).toContain('Add this context')
  })
})

describe('an error that is printed', () => {
  const error = new errors.PluginExitedError('aws', 255, { tookMs: 12, cause: new Error('why') })
  error.nextTryAt = 1_700_000_000_000

  it('shows code, hint and nextTryAt in inspect, and in a crash, which ignores custom inspection', () => {
    for (const customInspect of [true, false]) {
      const text = inspect(error, { customInspect })
      expect(text).toMatch(
        /^PluginExitedError: credential plugin "aws" failed with exit code 255\n/,
      )
      expect(text).toContain("code: 'ERR_PLUGIN_EXITED'")
      expect(text).toContain(`hint: '${error.hint}'`)
      expect(text).toContain('nextTryAt: 1700000000000')
      expect(text).not.toContain('undefined')
    }
  })

  it('has the same fields in JSON, with the message and without stack and cause', () => {
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: 'PluginExitedError',
      message: error.message,
      code: 'ERR_PLUGIN_EXITED',
      hint: error.hint,
      nextTryAt: 1_700_000_000_000,
      command: 'aws',
      exitStatus: 255,
      tookMs: 12,
    })
  })

  it.each(EVERY.map((each) => [each.name, each] as const))('%s has no empty fields', (_, each) => {
    const own = Object.getOwnPropertyNames(each)
    expect(own).toEqual(expect.arrayContaining(['code', 'hint']))
    expect(own.filter((name) => each[name as keyof typeof each] === undefined)).toEqual([])
    expect(inspect(each)).not.toContain('undefined')
  })
})

// With an installed library, Node loads the modules itself, and resetModules makes no copy.
const isInstalled = process.env['KUBECRED_INSTALLED'] !== undefined

describe.skipIf(isInstalled)('an error of another copy of this package', () => {
  it('is recognized by its brand, where instanceof fails', async () => {
    vi.resetModules()
    const copy = await import('../../src/errors/index.ts')
    const theirs = new copy.ClosedError()
    expect(theirs instanceof CredentialError).toBe(false)
    expect(isCredentialError(theirs)).toBe(true)
  })

  it.each([null, undefined, 'ERR_CLOSED', 1, {}, new Error('x'), { code: 'ERR_CLOSED' }])(
    'is not confused with %o',
    (value) => {
      expect(isCredentialError(value)).toBe(false)
    },
  )
})
