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

/** One of each, in the ways they can be made. */
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
  new errors.ProxyFailedError('http://p:3128', 'wants a user and a password (407)'),
  new errors.ServerUnreachableError('https://k', 'connection refused'),
  new errors.ServerUntrustedError('https://k', 'it has expired'),
  new errors.CertificateRefusedError('https://k', 'bad certificate'),
  new errors.TooManyStreamsError('too many'),
  new errors.ForeignOriginError('elsewhere'),
  new errors.TimedOutError('too late'),
  new errors.ClosedError(),
  new errors.ConnectionRetiredError(400),
  new errors.PeerMissingError('kubecred/ws', 'ws'),
  new errors.ServerResponseInvalidError('https://h', 'a SelfSubjectReview'),
  new errors.SystemExhaustedError('EMFILE', 'too many files are open'),
  new errors.UpgradeRefusedError(403, 'pods "web" is forbidden'),
  new errors.LoginError(
    [{ handler: 'corp', result: 'nothing', attempts: 1 }],
    'nobody is logged in',
  ),
  new errors.ConnectionInfoError(['server is missing']),
  new errors.LoginQueueFullError(10),
  new errors.LoginToolFailedError('kubectl', 'failed with exit code 1'),
  new errors.ExecInfoError('spec', 'is a number'),
  new errors.AgentUnusableError('no agent'),
  new errors.AgentLockedError('the agent is locked'),
  new errors.SignRequestError('digest', 'is empty'),
]

describe('the codes', () => {
  const all = Object.entries(CODES)

  it('have exit statuses from 10 to 99, each its own', () => {
    const statuses = all.map(([, { exit }]) => exit)
    expect(statuses.every((exit) => Number.isInteger(exit) && exit >= 10 && exit <= 99)).toBe(true)
    expect(new Set(statuses).size).toBe(statuses.length)
  })

  it('are in the order of their exit statuses, one range for each group', () => {
    const statuses = all.map(([, { exit }]) => exit)
    expect(statuses).toEqual([...statuses].sort((a, b) => a - b))
  })

  it.each(all)('%s says what it means and what to do, in sentences', (code, { means, remedy }) => {
    expect(code).toMatch(/^ERR_[A-Z_]+[A-Z]$/)
    expect(means).toMatch(/^[A-Z].*\.$/)
    expect(remedy).toMatch(/^[A-Z].*\.$/)
  })

  it('each have a class', () => {
    expect([...new Set(EVERY.map(({ code }) => code))].sort()).toEqual(Object.keys(CODES).sort())
  })
})

describe('the classes', () => {
  it('are all among those tested here', () => {
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

  it('have a code each', () => {
    const codes = EVERY.map(({ code }) => code)
    expect(new Set(codes).size).toBe(codes.length)
  })
})

describe.each(EVERY.map((error) => [error.name, error] as const))('%s', (name, error) => {
  it('is an error with a code of the table', () => {
    expect(error).toBeInstanceOf(CredentialError)
    expect(error).toBeInstanceOf(Error)
    expect(Object.hasOwn(CODES, error.code)).toBe(true)
    expect(error.retryable).toBe(CODES[error.code].retryable)
    expect(name).toMatch(/Error$/)
    expect(error.name).toBe(error.constructor.name)
  })

  it('has a message that fits after a code, and a hint that is a sentence', () => {
    expect(error.message).toMatch(/^[^A-Z].*[^.]$/)
    expect(error.hint).toMatch(/^[A-Z].*\.$/)
  })

  it('is recognised as ours', () => {
    expect(isCredentialError(error)).toBe(true)
  })
})

describe('an error', () => {
  it('has the hint of its code unless it knows a better one', () => {
    expect(new errors.TimedOutError('x').hint).toBe(CODES.ERR_TIMED_OUT.remedy)
    expect(new errors.TimedOutError('x', { hint: 'Wait.' }).hint).toBe('Wait.')
  })

  it('keeps its cause', () => {
    const cause = new Error('why')
    expect(new errors.NotSupportedError('x', { cause }).cause).toBe(cause)
    expect('cause' in new errors.NotSupportedError('x')).toBe(false)
  })

  it('of a plugin carries what is known about the run', () => {
    const error = new errors.PluginExitedError('aws', 255, { tookMs: 12, stderrTail: 'log in' })
    expect(error).toMatchObject({
      command: 'aws',
      exitStatus: 255,
      tookMs: 12,
      stderrTail: 'log in',
    })
    expect(error.message).toBe('credential plugin "aws" failed with exit code 255')
  })

  it('lists the names one could have meant, but not hundreds', () => {
    const names = Array.from({ length: 100 }, (_, index) => `c${index}`)
    expect(new errors.ContextNotFoundError('x', names).hint).toMatch(/"c7" and 92 more\.$/)
    expect(new errors.ContextNotFoundError('x', []).hint).toContain('it has none')
  })
})

// Node itself loads what the matrix has installed: there resetModules makes no copy.
const isInstalled = process.env['KUBECRED_INSTALLED'] !== undefined

describe.skipIf(isInstalled)('an error of another copy of this package', () => {
  it('is recognised by its brand, where instanceof cannot', async () => {
    vi.resetModules()
    const copy = await import('../../src/errors/index.ts')
    const theirs = new copy.ClosedError()
    expect(theirs instanceof CredentialError).toBe(false)
    expect(isCredentialError(theirs)).toBe(true)
  })

  it.each([null, undefined, 'ERR_CLOSED', 1, {}, new Error('x'), { code: 'ERR_CLOSED' }])(
    'is not taken for one: %o',
    (value) => {
      expect(isCredentialError(value)).toBe(false)
    },
  )
})
