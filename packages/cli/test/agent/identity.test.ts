import { describe, expect, it } from 'vitest'
import type { Lease } from '../../../core/src/keeper/lease.ts'
import { IssuedLeases } from '../../src/agent/entry.ts'
import { joinExecInfo, splitExecInfo } from '../../src/agent/exec-info-text.ts'
import { identityText } from '../../src/agent/identity.ts'
import { decodeRequest, type GetRequest } from '../../src/agent/protocol.ts'

const REQUEST: GetRequest = {
  do: 'get',
  path: '/bin/aws',
  command: 'aws',
  args: ['eks', 'get-token', '--role-arn', 'arn:aws:iam::1:role/x', '--url=https://x/y'],
  env: { AWS_PROFILE: 'dev', HOME: '/home/u' },
  cwd: '/home/u',
  execInfo: '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{}}',
  files: ['/home/u/.aws/config\x001 2 3'],
  isAccountKnown: true,
  isInteractive: false,
}
const isShared = (change: Partial<GetRequest>, base = REQUEST): boolean =>
  identityText({ ...base, ...change }) === identityText(base)

describe('identityText', () => {
  it.each<[string, Partial<GetRequest>]>([
    ['another file', { path: '/usr/bin/aws' }],
    ['another name', { command: '/bin/aws' }],
    ['another argument', { args: ['eks'] }],
    ['arguments split differently', { args: ['eks get-token'] }],
    ['another variable', { env: { ...REQUEST.env, AWS_PROFILE: 'prod' } }],
    ['an additional variable', { env: { ...REQUEST.env, AWS_REGION: 'x' } }],
    ['a variable whose name only begins like noise', { env: { ...REQUEST.env, PWDX: 'x' } }],
    ['a changed file', { files: ['/home/u/.aws/config\x001 2 4'] }],
    ['another cluster', { execInfo: REQUEST.execInfo.replace('{}', '{"cluster":{"server":"s"}}') }],
    ['another ttl', { ttlMs: 1000 }],
  ])('distinguishes %s', (_, change) => {
    expect(isShared(change)).toBe(false)
  })

  it('distinguishes clusters that differ in the last digit of a long number', () => {
    const info = (id: string): string =>
      REQUEST.execInfo.replace('{}', `{"cluster":{"server":"s","config":{"id":${id}}}}`)
    const base = { ...REQUEST, execInfo: info('12345678901234567890') }
    expect(isShared({ execInfo: info('12345678901234567891') }, base)).toBe(false)
  })

  it.each<[string, Partial<GetRequest>]>([
    [
      'other terminal variables',
      { env: { ...REQUEST.env, TERM: 'x', SSH_TTY: 'y', TMUX_PANE: '1', PWD: '/' } },
    ],
    ['another order of variables', { env: { HOME: '/home/u', AWS_PROFILE: 'dev' } }],
    [
      'another order in the exec info',
      {
        execInfo:
          '{"spec":{},"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential"}',
      },
    ],
    ['another parent or a terminal', { parent: { pid: 7 }, isInteractive: true }],
    ['another folder for a known plugin without relative paths', { cwd: '/tmp' }],
  ])('ignores %s', (_, change) => {
    expect(isShared(change)).toBe(true)
  })

  it.each<[string, Partial<GetRequest>]>([
    ['the plugin is unknown', { isAccountKnown: false }],
    ['an argument is relative', { args: ['./x'] }],
    ['the value of a flag is relative', { args: ['--config=conf/x'] }],
    ['a variable names a relative file', { env: { AWS_CONFIG_FILE: 'conf/x' } }],
  ])('depends on the folder if %s', (_, change) => {
    expect(isShared({ cwd: '/tmp' }, { ...REQUEST, ...change })).toBe(false)
  })
})

describe('exec info passed on to a plugin', () => {
  it('is unchanged except for `interactive`', () => {
    const text =
      '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":{"server":"s","config":{"id":12345678901234567890}},"interactive":true}}'
    const { interactive, text: passed } = splitExecInfo(text)
    expect(interactive).toBe(true)
    expect(passed).not.toContain('interactive')
    expect(joinExecInfo(passed, true)).toBe(text)
    expect(joinExecInfo(passed, false)).toBe(text.replace('true', 'false'))
  })

  it('sets `interactive` in both places for v1alpha1', () => {
    const { text } = splitExecInfo(
      '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1alpha1","interactive":true}',
    )
    expect(JSON.parse(joinExecInfo(text, false))).toMatchObject({
      interactive: false,
      spec: { interactive: false },
    })
  })

  it.each([undefined, '', ' ', '{', '[]', 'null', '{"kind":"Pod"}', 'kind: ExecCredential'])(
    'is rejected if it is %j',
    (text) => {
      expect(() => splitExecInfo(text)).toThrow(/KUBERNETES_EXEC_INFO/)
    },
  )
})

describe('decodeRequest', () => {
  it('accepts complete requests and nothing else', () => {
    expect(decodeRequest(JSON.stringify(REQUEST))).toEqual({ ...REQUEST, parent: undefined })
    for (const key of Object.keys(REQUEST)) {
      expect(decodeRequest(JSON.stringify({ ...REQUEST, [key]: null })), key).toBeUndefined()
    }
    for (const change of [{ env: { A: 1 } }, { args: [1] }, { ttlMs: -1 }, { cwd: 'x' }]) {
      expect(decodeRequest(JSON.stringify({ ...REQUEST, ...change }))).toBeUndefined()
    }
  })

  it.each([
    [{ ended: 'exited', status: 0, stdout: 'e30=', tookMs: 1, stderrTail: '' }, true],
    [{ ended: 'killed', signal: 'SIGINT', tookMs: 1, stderrTail: '' }, true],
    [{ ended: 'not-started', errno: 'E', reason: 'r', tookMs: 1, stderrTail: '' }, true],
    [{ ended: 'timed-out', tookMs: 1, stderrTail: '' }, true],
    [{ ended: 'exited', status: 0, tookMs: 1, stderrTail: '' }, false],
    [{ ended: 'exploded', tookMs: 1, stderrTail: '' }, false],
    [{ ended: 'timed-out', tookMs: -1, stderrTail: '' }, false],
    [null, false],
  ])('decodes the outcome %j: %j', (outcome, isComplete) => {
    const read = decodeRequest(JSON.stringify({ do: 'deposit', outcome }))
    expect(read).toEqual(isComplete ? { do: 'deposit', outcome } : undefined)
  })
})

describe('IssuedLeases', () => {
  const lease = { ticket: 1 } as Lease

  it('returns the lease of a client until it expires, and not to a later process with the same ID', () => {
    const given = new IssuedLeases()
    given.remember({ pid: 7, startedAt: 1 }, lease, 100, 0)
    expect(given.find({ pid: 7, startedAt: 1 }, 99)).toBe(lease)
    expect(given.find({ pid: 7, startedAt: 1 }, 100)).toBeUndefined()
    expect(given.find({ pid: 7, startedAt: 2 }, 0)).toBeUndefined()
    expect(given.find(undefined, 0)).toBeUndefined()
  })

  it('drops the oldest of too many clients', () => {
    const given = new IssuedLeases()
    for (let pid = 1; pid <= 1001; pid += 1) given.remember({ pid }, lease, 100, 0)
    expect(given.find({ pid: 1 }, 0)).toBeUndefined()
    expect(given.find({ pid: 2 }, 0)).toBe(lease)
  })
})
