import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import {
  PluginExitedError,
  PluginOutputInvalidError,
  SignerFailedError,
} from '../../src/errors/index.ts'

const failed = (stderrTail: string) => new PluginExitedError('p', 1, { stderrTail, hint: 'Own.' })

describe('the message about a failed plugin', () => {
  const message = (stderrTail: string) =>
    failed(stderrTail).message.replace('credential plugin "p" failed with exit code 1', '')

  it('ends with the last line of standard error, without its full stop', () => {
    expect(message('Token has expired and refresh failed.\n')).toBe(
      ': Token has expired and refresh failed',
    )
  })

  it('has at most three lines of it, joined into one', () => {
    expect(message('one\ntwo\n\n  three\nfour\r\n')).toBe(': two | three | four')
  })

  it('has at most 300 characters of it, and keeps the end', () => {
    const text = message(`${'x'.repeat(5000)} the reason`)
    expect(text).toHaveLength(302)
    expect(text).toMatch(/^: …x.* the reason$/)
  })

  it.each(['', ' \n\t\n', '...\n'])('does not change if standard error is %j', (stderrTail) => {
    expect(message(stderrTail)).toBe('')
  })

  it('is available without standard error as the summary, which is not printed', () => {
    const error = failed('log in first')
    expect(error.summary).toBe('credential plugin "p" failed with exit code 1')
    expect(inspect(error)).not.toContain('summary')
  })

  it('labels standard error if the message already has the reason', () => {
    const facts = { stderrTail: 'a warning' }
    const error = new PluginOutputInvalidError('p', 'status.token', 'returned a number', facts)
    expect(error.message).toBe('credential plugin "p" returned a number; stderr: a warning')
    expect(error.summary).toBe('credential plugin "p" returned a number')
  })
})

describe('the message about a failed signer', () => {
  it('ends with its standard error', () => {
    const error = new SignerFailedError('"s"', 'exited', { stderrTail: 'no device' })
    expect(error).toMatchObject({
      message: 'the signer "s" exited: no device',
      summary: 'the signer "s" exited',
    })
  })

  it('does not repeat a reason that it already has', () => {
    const error = new SignerFailedError('"s"', 'failed: no device', { stderrTail: 'no device\n' })
    expect(error.message).toBe('the signer "s" failed: no device')
  })
})

describe('the hint about a failed plugin', () => {
  it.each([
    [
      'aws',
      'Error loading SSO Token: Token for x does not exist\nThe SSO session has expired or is otherwise invalid. To refresh this SSO session run aws sso login with the corresponding profile.',
      'To refresh this SSO session run aws sso login with the corresponding profile',
    ],
    [
      'gcloud',
      'ERROR: (gcloud.config.config-helper) There was a problem refreshing your current auth tokens.\nPlease run:\n\n  $ gcloud auth login\n\nto obtain new credentials.',
      'Please run: $ gcloud auth login',
    ],
    [
      'az',
      "ERROR: Please run 'az login' to setup account.",
      "Please run 'az login' to setup account",
    ],
    [
      'kubelogin',
      'token expired; try running `kubelogin convert`',
      'try running `kubelogin convert`',
    ],
    ['a comma', 'session expired, run corp login', 'session expired, run corp login'],
    ['a command', 'Run: example login', 'Run: example login'],
    ['a duty', 'error: You must log in to the server', 'You must log in to the server'],
    ['the last of two', 'Run one login\nRun two login', 'Run two login'],
  ])('quotes the advice of %s', (_, stderrTail, advice) => {
    expect(failed(stderrTail).hint).toBe(`Do what the program asks: "${advice}".`)
  })

  it.each([
    'exec: failed to run aws: no such file',
    'could not run "aws"',
    'error: run failed',
    'unable to use `cache`',
    'Traceback (most recent call last)',
    'long-running operation was cancelled',
    'the token has expired',
    '',
  ])('is the default if there is no advice: %j', (stderrTail) => {
    expect(failed(stderrTail).hint).toBe('Own.')
  })

  it('quotes at most 200 characters', () => {
    expect(failed(`Run ${'x'.repeat(5000)}`).hint.length).toBeLessThan(240)
  })
})
