import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { askAgent } from '../../src/agent/ask-agent.ts'
import { AgentFixture } from './agent-fixture.ts'

const agent = new AgentFixture()

describe('an agent', () => {
  it('runs a plugin once for all requests, and shows none of its secrets', async () => {
    await agent.serve()
    const asked = agent.request(undefined, { args: ['get', '--password', 'marked-secret'] })
    expect(await Promise.all([agent.token(asked), agent.token(asked), agent.token(asked)])).toEqual(
      ['1', '1', '1'],
    )
    const seen = await agent.status()
    expect(seen?.entries).toMatchObject([
      { command: 'plugin', args: 'get --password …', state: 'ready', runs: 1, waiting: 0 },
    ])
    expect(JSON.stringify(seen)).not.toContain('marked-secret')
  })

  it('keeps a credential at most fifteen minutes if the account is unknown, and renews it ahead of that', async () => {
    await agent.serve()
    const known = agent.request()
    const unknown = { ...known, isAccountKnown: false }
    expect(await agent.token(unknown)).toBe('1')
    expect(await agent.token(unknown)).toBe('1')
    expect(await agent.token(known)).toBe('2')
    agent.clock.advance(15 * 60_000)
    await untilRuns(3)
    expect(await agent.token(known)).toBe('2')
    expect(await agent.token(unknown)).toBe('3')
  })

  it('keeps a credential without expiry as long as the TTL', async () => {
    await agent.serve()
    const asked = agent.request(agent.answer(''), { ttlMs: 60_000 })
    expect([await agent.token(asked), await agent.token(asked)]).toEqual(['1', '1'])
    agent.clock.jumpTo(agent.clock.now() + 60_000)
    expect(await agent.token(asked)).toBe('2')
  })

  it('lets a requester with a terminal run the plugin, and shares the outcome', async () => {
    await agent.serve()
    const asked = agent.request()
    const person = { ...asked, isInteractive: true }
    let bring: (() => void) | undefined
    const brought = new Promise<void>((resolve) => {
      bring = resolve
    })
    const first = agent.token(person, {
      onRun: async () => {
        await brought
        const text = `{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"typed","expirationTimestamp":"2099-01-01T00:00:00Z"}}`
        const stdout = Buffer.from(text).toString('base64')
        return { ended: 'exited', status: 0, stdout, tookMs: 1, stderrTail: '' }
      },
    })
    while ((await agent.status())?.entries[0]?.waiting !== 1);
    const second = agent.token(asked)
    while ((await agent.status())?.entries[0]?.waiting !== 2);
    bring?.()
    expect([await first, await second]).toEqual(['typed', 'typed'])
    expect(agent.runs).toBe(0)
  })

  it('rejects a malformed outcome from a requester', async () => {
    await agent.serve()
    const person = agent.request(undefined, { isInteractive: true })
    const got = await askAgent(agent.paths, person, {
      onRun: async () => ({
        ended: 'exited',
        status: 0,
        stdout: 'e30=',
        tookMs: 1,
        stderrTail: '',
      }),
    })
    expect(got).toMatchObject({ is: 'failed', code: 'ERR_PLUGIN_VERSION' })
  })

  it('runs the plugin again if the same client asks again, and shares the new credential', async () => {
    await agent.serve()
    const asked = agent.request(undefined, { parent: { pid: 1, startedAt: 1 } })
    expect([await agent.token(asked), await agent.token(asked)]).toEqual(['1', '2'])
    expect(await agent.token({ ...asked, parent: { pid: 2, startedAt: 1 } })).toBe('2')
    // The server refuses every credential: the plugin must not run for every request.
    expect([await agent.token(asked), await agent.token(asked)]).toEqual(['2', '2'])
  })

  it('does not mistake expiry for a refusal', async () => {
    await agent.serve()
    const asked = agent.request(agent.answer('2030-01-01T00:10:00Z'), {
      parent: { pid: 1, startedAt: 1 },
    })
    expect(await agent.token(asked)).toBe('1')
    agent.clock.jumpTo(Date.parse('2030-01-01T00:10:01Z'))
    await agent.token(asked)
    expect((await agent.status())?.entries).toMatchObject([{ runs: 2 }])
    expect(agent.runs).toBe(2)
  })

  it('drops credentials on forget, and rejects requests while it is locked', async () => {
    await agent.serve({ idleMs: 1000 })
    const asked = agent.request()
    expect(await agent.token(asked)).toBe('1')
    await askAgent(agent.paths, { do: 'forget' })
    expect(await agent.token(asked)).toBe('2')
    await askAgent(agent.paths, { do: 'lock' })
    expect(await askAgent(agent.paths, asked)).toMatchObject({
      is: 'failed',
      code: 'ERR_AGENT_LOCKED',
      exit: 94,
    })
    agent.clock.jumpTo(agent.clock.now() + 10_000)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await agent.status()).toMatchObject({ isLocked: true, entries: [] })
    await askAgent(agent.paths, { do: 'unlock' })
    expect(await agent.token(asked)).toBe('3')
  })

  it('aborts a run when it is locked', async () => {
    await agent.serve()
    const asking = askAgent(agent.paths, agent.request('sleep 30'))
    while (agent.runs === 0) await agent.status()
    await askAgent(agent.paths, { do: 'lock' })
    expect(await asking).toMatchObject({ is: 'failed' })
  })

  it('ends when it is idle, although the clock was set back by years', async () => {
    const served = await agent.serve({ idleMs: 1000 })
    expect(await agent.token(agent.request())).toBe('1')
    agent.clock.jumpTo(Date.parse('2020-01-01T00:00:00Z'))
    const lastAskedAt = async () => (await agent.status())?.entries[0]?.lastAskedAt
    await expect.poll(lastAskedAt).toBe(agent.clock.now())
    agent.clock.jumpTo(agent.clock.now() + 1001)
    expect(await served.ended).toBe('it was idle')
  })

  it('keeps what it has when the clock is set back, and runs no plugin for it', async () => {
    await agent.serve({ idleMs: Number.MAX_SAFE_INTEGER })
    const asked = agent.request()
    expect(await agent.token(asked)).toBe('1')
    for (const year of ['2020', '2031', '2019', '2030']) {
      agent.clock.jumpTo(Date.parse(`${year}-01-01T00:00:00Z`))
      expect(await agent.token(asked)).toBe('1')
    }
    expect(agent.runs).toBe(1)
  })

  it('ends when it is idle, when it is stopped, and when its socket was replaced', async () => {
    const idle = await agent.serve({ idleMs: 1000 })
    agent.clock.jumpTo(agent.clock.now() + 1000)
    expect(await idle.ended).toBe('it was idle')
    expect(existsSync(agent.paths.socket)).toBe(false)
    const stopped = await agent.serve()
    await askAgent(agent.paths, { do: 'stop' })
    expect(await stopped.ended).toBe('it was stopped by kubecred agent stop')
    const replaced = await agent.serve()
    renameSync(agent.paths.socket, join(agent.folder, 'moved'))
    writeFileSync(agent.paths.socket, 'of another agent')
    expect(await replaced.ended).toBe('another agent has replaced its socket')
    expect(readFileSync(agent.paths.socket, 'utf8')).toBe('of another agent')
    rmSync(agent.paths.socket)
  })

  it('replaces a dead socket, and only its user can access its own', async () => {
    mkdirSync(agent.paths.folder, { mode: 0o700 })
    writeFileSync(agent.paths.socket, '')
    await agent.serve()
    expect(lstatSync(agent.paths.socket).isSocket()).toBe(true)
    expect(lstatSync(agent.paths.socket).mode & 0o777).toBe(0o600)
    expect(lstatSync(agent.paths.folder).mode & 0o777).toBe(0o700)
  })
})

async function untilRuns(count: number): Promise<void> {
  while (agent.runs < count) await agent.status()
}
