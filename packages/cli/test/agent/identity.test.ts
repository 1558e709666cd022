import { describe, expect, it } from 'vitest'
import type { Lease } from '../../../core/src/keeper/lease.ts'
import { Given } from '../../src/agent/entry.ts'
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
    ['arguments cut elsewhere', { args: ['eks get-token'] }],
    ['another variable', { env: { ...REQUEST.env, AWS_PROFILE: 'prod' } }],
    ['one variable more', { env: { ...REQUEST.env, AWS_REGION: 'x' } }],
    ['a variable whose name only begins like noise', { env: { ...REQUEST.env, PWDX: 'x' } }],
    ['a changed file', { files: ['/home/u/.aws/config\x001 2 4'] }],
    ['another cluster', { execInfo: REQUEST.execInfo.replace('{}', '{"cluster":{"server":"s"}}') }],
    ['another ttl', { ttlMs: 1000 }],
  ])('tells %s apart', (_, change) => {
    expect(isShared(change)).toBe(false)
  })

  it('tells clusters apart that differ in the last digit of a long number', () => {
    const info = (id: string): string =>
      REQUEST.execInfo.replace('{}', `{"cluster":{"server":"s","config":{"id":${id}}}}`)
    const base = { ...REQUEST, execInfo: info('12345678901234567890') }
    expect(isShared({ execInfo: info('12345678901234567891') }, base)).toBe(false)
  })

  it.each<[string, Partial<GetRequest>]>([
    ['a terminal', { env: { ...REQUEST.env, TERM: 'x', SSH_TTY: 'y', TMUX_PANE: '1', PWD: '/' } }],
    ['an order of variables', { env: { HOME: '/home/u', AWS_PROFILE: 'dev' } }],
    [
      'an order in the exec info',
      {
        execInfo:
          '{"spec":{},"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential"}',
      },
    ],
    ['a parent or a person', { parent: { pid: 7 }, isInteractive: true }],
    ['a folder, where the plugin is known and names none', { cwd: '/tmp' }],
  ])('does not care about %s', (_, change) => {
    expect(isShared(change)).toBe(true)
  })

  it.each<[string, Partial<GetRequest>]>([
    ['the plugin is unknown', { isAccountKnown: false }],
    ['an argument is relative', { args: ['./x'] }],
    ['an argument is relative behind a flag', { args: ['--config=conf/x'] }],
    ['a variable names a relative file', { env: { AWS_CONFIG_FILE: 'conf/x' } }],
  ])('cares about the folder when %s', (_, change) => {
    expect(isShared({ cwd: '/tmp' }, { ...REQUEST, ...change })).toBe(false)
  })
})

describe('exec info that is passed on', () => {
  it('comes out as it came in, but for whether one may ask', () => {
    const text =
      '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":{"server":"s","config":{"id":12345678901234567890}},"interactive":true}}'
    const { interactive, text: passed } = splitExecInfo(text)
    expect(interactive).toBe(true)
    expect(passed).not.toContain('interactive')
    expect(joinExecInfo(passed, true)).toBe(text)
    expect(joinExecInfo(passed, false)).toBe(text.replace('true', 'false'))
  })

  it('says it at both places that v1alpha1 has', () => {
    const { text } = splitExecInfo(
      '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1alpha1","interactive":true}',
    )
    expect(JSON.parse(joinExecInfo(text, false))).toMatchObject({
      interactive: false,
      spec: { interactive: false },
    })
  })

  it.each([undefined, '', ' ', '{', '[]', 'null', '{"kind":"Pod"}', 'kind: ExecCredential'])(
    'refuses %j',
    (text) => {
      expect(() => splitExecInfo(text)).toThrow(/KUBERNETES_EXEC_INFO/)
    },
  )
})

describe('decodeRequest', () => {
  it('takes what an asker sends, and nothing that is not whole', () => {
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
  ])('reads the outcome %j: %j', (outcome, isWhole) => {
    const read = decodeRequest(JSON.stringify({ do: 'deposit', outcome }))
    expect(read).toEqual(isWhole ? { do: 'deposit', outcome } : undefined)
  })
})

describe('Given', () => {
  const lease = { ticket: 1 } as Lease

  it('knows what a client has until it ends, and tells a later process with its number apart', () => {
    const given = new Given()
    given.remember({ pid: 7, startedAt: 1 }, lease, 100, 0)
    expect(given.find({ pid: 7, startedAt: 1 }, 99)).toBe(lease)
    expect(given.find({ pid: 7, startedAt: 1 }, 100)).toBeUndefined()
    expect(given.find({ pid: 7, startedAt: 2 }, 0)).toBeUndefined()
    expect(given.find(undefined, 0)).toBeUndefined()
  })

  it('forgets the oldest of too many clients', () => {
    const given = new Given()
    for (let pid = 1; pid <= 1001; pid += 1) given.remember({ pid }, lease, 100, 0)
    expect(given.find({ pid: 1 }, 0)).toBeUndefined()
    expect(given.find({ pid: 2 }, 0)).toBe(lease)
  })
})
