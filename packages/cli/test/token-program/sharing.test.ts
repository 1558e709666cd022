import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AgentHome, answers, collect, execInfo } from './agent-home.ts'

let home: AgentHome

beforeEach(() => {
  home = new AgentHome()
})
afterEach(() => home.close())

const waitForGo = (file: string): string => `until [ -e "${file}" ]; do sleep 0.05; done`
const waiting = (count: number) => (status: { entries: readonly { waiting: number }[] }) =>
  status.entries.some((entry) => entry.waiting >= count)

describe('kubecred-token -- PLUGIN', () => {
  it('prints the answer of the plugin, and passes on its standard error', async () => {
    const plugin = home.plugin('p', `echo 'a word for people' >&2\n${answers('first')}`)
    const { status, out, err } = await home.token(['--', plugin])
    expect({ status, err }).toEqual({ status: 0, err: 'a word for people\n' })
    expect(JSON.parse(out)).toEqual({
      kind: 'ExecCredential',
      apiVersion: 'client.authentication.k8s.io/v1',
      status: { token: 'first', expirationTimestamp: '2099-01-01T00:00:00Z' },
    })
  })

  it('hides the cluster info of the client if the plugin prints it', async () => {
    const plugin = home.plugin('p', 'env >&2; exit 1')
    const config = { requesters: 'marked-requesters', list: [{ secret: 'marked "secret"' }] }
    const cluster = { server: 'https://h', config, 'proxy-url': 'http://h/marked-proxy' }
    for (const KUBECRED_AGENT of ['on', 'off']) {
      const env = { KUBERNETES_EXEC_INFO: execInfo(false, { cluster }), KUBECRED_AGENT }
      const { status, err } = await home.token(['--', plugin], env)
      expect(status).toBe(1)
      expect(err).toContain('KUBERNETES_EXEC_INFO=')
      expect(err).not.toContain('marked')
    }
  })

  it('escapes control characters from the plugin', async () => {
    const plugin = home.plugin('p', `printf 'a\\033[2Jb\\r\\n' >&2\nexit 1`)
    const { err } = await home.token(['--', plugin])
    expect(err).toContain('aU+001B[2Jb\n')
    expect(err).not.toMatch(/[^\n\P{C}]/u)
  })

  it('runs the plugin once for fifty concurrent processes, and for later ones', async () => {
    const plugin = home.plugin('p', `${waitForGo(home.path('go'))}\n${answers()}`)
    const many = Array.from({ length: 50 }, () => home.token(['--', plugin]))
    await home.until(waiting(50))
    writeFileSync(home.path('go'), '')
    const ended = await Promise.all(many)
    expect(ended.map(({ status }) => status)).toEqual(many.map(() => 0))
    expect(new Set(ended.map(({ token }) => token))).toEqual(new Set(['1']))
    expect(await home.token(['--', plugin])).toMatchObject({ status: 0, token: '1', err: '' })
    expect(home.runs).toBe(1)
  })

  it('has one agent: twenty processes that find a dead socket start only one', async () => {
    const plugin = home.plugin('p', `${waitForGo(home.path('go'))}\n${answers()}`)
    const before = home.token(['--', plugin])
    const { pid } = await home.until((status) => waiting(1)(status) && home.runs === 1)
    process.kill(pid, 'SIGKILL')
    const many = Array.from({ length: 20 }, () => home.token(['--', plugin]))
    await home.until(waiting(21))
    writeFileSync(home.path('go'), '')
    const ended = await Promise.all([before, ...many])
    expect(new Set(ended.map(({ status }) => status))).toEqual(new Set([0]))
    expect((await home.status())?.entries).toMatchObject([{ runs: 1 }])
    // One run of the dead agent, one of its successor.
    expect(home.runs).toBe(2)
  })

  it('succeeds if the agent is killed while the plugin runs, and so does the next call', async () => {
    const plugin = home.plugin('p', `${waitForGo(home.path('go'))}\n${answers('late')}`)
    const asking = home.token(['--', plugin])
    const { pid } = await home.until(waiting(1))
    process.kill(pid, 'SIGKILL')
    writeFileSync(home.path('go'), '')
    expect(await asking).toMatchObject({ status: 0, token: 'late' })
    expect(await home.token(['--', plugin])).toMatchObject({ status: 0, token: 'late' })
    expect((await home.status())?.pid).not.toBe(pid)
  })

  it('runs the plugin without the agent if the agent is suspended, and uses it again afterwards', async () => {
    const plugin = home.plugin('p', answers())
    expect(await home.token(['--', plugin])).toMatchObject({ status: 0, token: '1', err: '' })
    const { pid } = await home.until(() => true)
    process.kill(pid, 'SIGSTOP')
    try {
      const { status, token, err } = await home.token(['--', plugin])
      expect({ status, token }).toEqual({ status: 0, token: '2' })
      expect(err).toContain('running the plugin without the agent: the agent does not respond')
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    expect(await home.token(['--', plugin])).toMatchObject({ status: 0, token: '1', err: '' })
  })

  it('keeps running for waiting clients when others leave', async () => {
    const plugin = home.plugin('p', `${waitForGo(home.path('go'))}\n${answers()}`)
    const leaving = home.start(['--', plugin])
    await home.until(waiting(1))
    const staying = home.token(['--', plugin])
    await home.until(waiting(2))
    const left = collect(leaving)
    leaving.kill('SIGKILL')
    writeFileSync(home.path('go'), '')
    expect(await staying).toMatchObject({ status: 0, token: '1' })
    await left
    expect(home.runs).toBe(1)
  })

  it('does not share a credential without expiry: every client runs the plugin itself', async () => {
    const plugin = home.plugin('p', `${waitForGo(home.path('go'))}\n${answers(undefined, '')}`)
    const many = [home.token(['--', plugin]), home.token(['--', plugin])]
    await home.until(waiting(2))
    writeFileSync(home.path('go'), '')
    const tokens = (await Promise.all(many)).map(({ token }) => token)
    expect(new Set(tokens).size).toBe(2)
    await home.token(['--', plugin])
    expect(home.runs).toBe(3)
    expect((await home.status())?.entries).toEqual([])
  })

  it('shares it for the time of --ttl', async () => {
    const plugin = home.plugin('p', answers(undefined, ''))
    const args = ['--ttl', '10m', '--', plugin]
    expect(await home.token(args)).toMatchObject({ token: '1' })
    expect(await home.token(args)).toMatchObject({ token: '1' })
  })

  it('passes on a failure: standard error and exit status of the plugin, and a hint', async () => {
    const plugin = home.plugin('p', `echo 'you are not logged in' >&2; exit 7`)
    const first = await home.token(['--', plugin, '--client-secret=hush-hush'])
    expect(first).toMatchObject({ status: 7, out: '' })
    expect(first.err).toMatch(/^you are not logged in\nkubecred-token: credential plugin/)
    expect(first.err).toContain('ERR_PLUGIN_EXITED')
    expect(first.err).not.toContain('hush-hush')
    // The back-off grows, so that even on a busy machine a call falls into it. The plugin does not run for that call,
    // which prints the standard error of the failed run.
    for (;;) {
      const { runs } = home
      const next = await home.token(['--', plugin, '--client-secret=hush-hush'])
      expect(next.status).toBe(7)
      if (home.runs > runs) continue
      expect(next.err).toContain('  you are not logged in')
      break
    }
  })

  it('works without the agent if KUBECRED_AGENT is off', async () => {
    const plugin = home.plugin('p', answers())
    const env = { KUBECRED_AGENT: 'off' }
    expect(await home.token(['--', plugin], env)).toMatchObject({ token: '1', err: '' })
    expect(await home.token(['--', plugin], env)).toMatchObject({ token: '2', err: '' })
    expect(await home.status()).toBeUndefined()
  })

  it('answers in the requested version, and passes the exec info to the plugin', async () => {
    const plugin = home.plugin('p', `printf '%s' "$KUBERNETES_EXEC_INFO" > info\n${answers()}`)
    const cluster = { server: 'https://x', config: { id: 12345678901234567890n } }
    const info = execInfo(false).replace('"spec":{', `"spec":{"cluster":${encode(cluster)},`)
    await home.token(['--', plugin], { KUBERNETES_EXEC_INFO: info })
    expect(home.lines('info').join()).toContain('"id":12345678901234567890')
    expect(JSON.parse(home.lines('info').join()).spec.interactive).toBe(false)
  })

  it.each([
    [[], { KUBERNETES_EXEC_INFO: undefined }, 90],
    [['--', 'x'], { KUBERNETES_EXEC_INFO: undefined }, 90],
    [['--', 'x'], { KUBERNETES_EXEC_INFO: '{' }, 90],
    [['--', 'no-such-plugin'], {}, 30],
    [['--'], {}, 2],
    [['--ttl', 'soon', '--', 'x'], {}, 2],
    [['--ttl'], {}, 2],
    [['surplus'], {}, 2],
  ])('exits for %j with %j: %i', async (args, env, status) => {
    const ended = await home.token(args, env)
    expect(ended).toMatchObject({ status, out: '' })
    expect(ended.err).toMatch(/^kubecred-token: /)
    expect(await home.status()).toBeUndefined()
  })
})

function encode(value: unknown): string {
  return JSON.stringify(value, (_, member) =>
    typeof member === 'bigint' ? `#${member}#` : member,
  ).replace(/"#(\d+)#"/g, '$1')
}
